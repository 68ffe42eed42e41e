/** The access token. The server issues it to the session of this browser; the cookie is out of reach of scripts. */
import { closeStorage } from "./drafts.js";
import { takeFirstResponse } from "./first_token.js";
import { signal } from "./html.js";
import { t } from "./texts.js";

/**
 * "incomplete": the service requires a second factor, and the account has none.
 * @typedef {"unknown" | "in" | "out" | "incomplete"} SignIn
 */

/** @type {import("./html.js").Signal<SignIn>} */
export const signIn = signal(/** @type {SignIn} */ ("unknown"));

const MARGIN_SECONDS = 30;
/** @type {{token: string, expires: number} | null} */
let current = null;
/** @type {Promise<string> | null} */
let pending = null;

export class SignedOut extends Error {}

/** A token that is valid for some time. Concurrent callers share one request. */
export function accessToken() {
    if (current !== null && performance.now() < current.expires) return Promise.resolve(current.token);
    pending ??= requestToken().finally(() => {
        pending = null;
    });
    return pending;
}

/** @param {string} token that the API refused */
export function dropToken(token) {
    if (current?.token === token) current = null;
}

async function requestToken() {
    const response = await (takeFirstResponse() ?? fetch("/dashboard/session/token", { method: "POST", credentials: "same-origin" }));
    const refused = await refusal(response);
    if (refused !== null) {
        signIn.value = refused;
        throw new SignedOut();
    }
    if (!response.ok) throw new TypeError(`The server answered ${response.status}.`);
    const { token, expiresIn } = await response.json();
    current = { token, expires: performance.now() + Math.max(0, expiresIn - MARGIN_SECONDS) * 1000 };
    signIn.value = "in";
    return /** @type {string} */ (token);
}

/**
 * @param {Response} response
 * @returns {Promise<"out" | "incomplete" | null>}
 */
async function refusal(response) {
    if (response.status === 401) return "out";
    if (response.status !== 403) return null;
    return (await response.json()).code === "second_factor_required" ? "incomplete" : null;
}

/**
 * Tasks that need the token and run before the session ends.
 * @type {Set<() => Promise<void>>}
 */
export const beforeSignOut = new Set();

/** Deletes the drafts, for the next user of this browser. */
export async function signOut() {
    for (const finish of beforeSignOut) await finish();
    const response = await fetch("/dashboard/session/end", { method: "POST", credentials: "same-origin" });
    if (!response.ok) throw new Error(t("error.unknown", { status: response.status }));
    /** @type {{ next?: string }} */
    const ended = await response.json();
    current = null;
    closeStorage();
    location.assign(ended.next ?? "/dashboard/overview");
}

/** Whether a call was refused until the user confirms who they are. */
export const needsConfirmation = signal(false);

/** The page that asks for the password, a code or a passkey, and then returns here. */
export const confirmationAddress = () =>
    `/accounts/confirm/?next=${encodeURIComponent(location.pathname + location.search)}`;

/** The page to set up a second factor. */
export const SECOND_FACTOR = "/accounts/2fa/";

/** The login page, which then returns here. */
export function signInAddress() {
    const path = document.documentElement.dataset.signIn ?? "";
    return `${path}?next=${encodeURIComponent(location.pathname + location.search)}`;
}
