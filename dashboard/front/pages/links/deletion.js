/** Deletion with undo: the page sends the deletion once the time for an undo has passed. */
import { deleteLinks } from "../../core/endpoints.js";
import { report } from "../../core/failures.js";
import { navigate } from "../../core/router.js";
import { beforeSignOut } from "../../core/session.js";
import { t } from "../../core/texts.js";
import { TOAST_MILLISECONDS, toast } from "../../core/toasts.js";
import { leaving, load } from "./state.js";

/** @type {Map<number, string[]>} the timers of deletions that have not begun */
const waiting = new Map();

/** @param {string[]} ids */
export function deleteLater(ids) {
    leaving.value = new Set([...leaving.value, ...ids]);
    const timer = window.setTimeout(() => begin(timer), TOAST_MILLISECONDS);
    waiting.set(timer, ids);
    const undo = () => {
        clearTimeout(timer);
        if (waiting.delete(timer)) show(ids);
    };
    // The page lists what is deleted, so the deletion begins first.
    const showDeleted = async () => {
        clearTimeout(timer);
        if (waiting.has(timer)) await begin(timer);
        navigate("/dashboard/deleted");
    };
    toast(t("selection.deleted", { count: ids.length }), {
        actions: [
            { label: t("selection.undo"), run: undo },
            { label: t("deleted.title"), run: showDeleted },
        ],
    });
}

/**
 * @param {number} timer
 * @param {{keepalive?: boolean}} [options]
 */
async function begin(timer, options) {
    const ids = waiting.get(timer) ?? [];
    waiting.delete(timer);
    try {
        await deleteLinks(ids, options);
        await load();
    } catch (error) {
        report(error);
    } finally {
        show(ids);
    }
}

/** @param {string[]} ids */
function show(ids) {
    leaving.value = new Set([...leaving.value].filter(id => !ids.includes(id)));
}

/** Sends pending deletions, because the page is closed or the session ends. */
async function beginAll() {
    const timers = [...waiting.keys()];
    timers.forEach(clearTimeout);
    await Promise.all(timers.map(timer => begin(timer, { keepalive: true })));
}

addEventListener("pagehide", beginAll);
beforeSignOut.add(beginAll);
