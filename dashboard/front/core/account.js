/** The account that is signed in, and what it may do in the workspace of this page. */
import { call } from "./api.js";
import { forgetDrafts } from "./drafts.js";
import { messageOf } from "./failures.js";
import { computed, signal } from "./html.js";
import { chooseLanguage } from "./texts.js";
import { workspaceId } from "./workspace.js";

/** @typedef {import("../types/api.js").components["schemas"]["Account"]} Account */
/** @typedef {Account["workspaces"][number]} Workspace */
/** @typedef {Workspace["role"]} Role */

/** @type {import("./html.js").Signal<Account | null>} */
export const account = signal(/** @type {Account | null} */ (null));
/** The workspace of this page. Undefined if the account is not loaded, or is no longer a member of the workspace. */
export const workspace = computed(() =>
    account.value?.workspaces.find(({ _id, isPersonal }) => (workspaceId === null ? isPersonal : _id === workspaceId)),
);

/** @type {Role[]} */
export const ROLES = ["viewer", "editor", "admin", "owner"];

/**
 * Whether the account has this role or a higher one in a workspace.
 * @param {{role: Role}} workspace
 * @param {Role} required
 */
export const mayIn = ({ role }, required) => ROLES.indexOf(role) >= ROLES.indexOf(required);

/**
 * The same for the workspace of this page. The API decides; the page only hides actions that it would refuse. Until the
 * account is loaded, the answer is yes in the personal workspace, because its account is the owner.
 * @param {Role} required
 */
export function may(required) {
    const role = workspace.value?.role ?? (workspaceId === null ? "owner" : "viewer");
    return mayIn({ role }, required);
}

/**
 * Whether the account is known to have a lower role. Unlike `may`, it is false until the account is loaded.
 * @param {Role} required
 */
export const lacks = required => workspace.value !== undefined && !may(required);

/** Why the account could not be loaded. Null: it could, or the page says so already. */
export const accountFailure = signal(/** @type {string | null} */ (null));

/** Loads the account again, and shows why if that fails. */
export const reloadAccount = () => loadAccount().catch(() => null);

export async function loadAccount() {
    const { user } = await call("GET", "/auth/me").catch(error => {
        accountFailure.value = messageOf(error);
        throw error;
    });
    accountFailure.value = null;
    if (forgetDrafts(user._id)) {
        // The page may still show data of the account that used this tab before.
        location.reload();
        return;
    }
    account.value = user;
}

/**
 * Shows the pages in this language, and has mails to the account sent in it.
 * @param {string} code
 */
export async function speak(code) {
    // The page changes its language even if the account cannot.
    if (account.value !== null) await call("PATCH", "/auth/me", { body: { language: code } }).catch(() => null);
    chooseLanguage(code);
}

/** @param {{firstName: string, lastName: string}} names */
export async function rename(names) {
    const { user } = await call("PATCH", "/auth/me", { body: names });
    account.value = user;
}
