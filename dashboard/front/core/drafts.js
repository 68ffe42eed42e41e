/** Unsaved input, stored in this tab, so that it survives a reload. */
import { signal, useMemo } from "./html.js";

const PREFIX = "dashboard.draft.";
const ACCOUNT = "dashboard.account";
let isClosed = false;

/**
 * Deletes all that this tab stores, for its next user. Until another page replaces this one, responses may still arrive:
 * nothing is stored any more.
 */
export function closeStorage() {
    isClosed = true;
    try {
        sessionStorage.clear();
    } catch {
        // Without storage, there is nothing to delete.
    }
}

// The browser may have kept this page, and shows it again.
addEventListener("pageshow", ({ persisted }) => persisted && isClosed && location.reload());

/**
 * @param {string} name
 * @param {unknown} value
 */
export function keepDraft(name, value) {
    if (isClosed) return;
    try {
        sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
    } catch {
        // Without storage, the input is kept as long as the page.
    }
}

/**
 * Null if nothing is stored.
 * @param {string} name
 * @returns {any}
 */
export function readDraft(name) {
    try {
        return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "null");
    } catch {
        return null;
    }
}

/** Whether something was typed that is not saved. */
export function hasDrafts() {
    try {
        return Object.keys(sessionStorage).some(key => key.startsWith(PREFIX));
    } catch {
        return false;
    }
}

/** @param {string} name */
export function dropDraft(name) {
    try {
        sessionStorage.removeItem(PREFIX + name);
    } catch {
        // See above.
    }
}

/**
 * The text of an input, which survives a reload. An empty text is not stored.
 * @param {string} name
 * @param {string} initial
 */
export function useDraft(name, initial = "") {
    return useMemo(() => {
        const text = signal(/** @type {string} */ (readDraft(name) ?? initial));
        text.subscribe(value => (value === initial ? dropDraft(name) : keepDraft(name, value)));
        return text;
    }, [name]);
}

/**
 * The drafts of one account are not shown to another one that signs in in the same tab. Returns whether another account
 * used the tab before.
 * @param {string} accountId
 */
export function forgetDrafts(accountId) {
    if (isClosed) return false;
    try {
        const before = sessionStorage.getItem(ACCOUNT);
        const isAnother = before !== null && before !== accountId;
        if (isAnother) Object.keys(sessionStorage).filter(key => key.startsWith(PREFIX)).forEach(key => sessionStorage.removeItem(key));
        sessionStorage.setItem(ACCOUNT, accountId);
        return isAnother;
    } catch {
        return false;
    }
}
