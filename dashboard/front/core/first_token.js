/**
 * The first request for an access token. This module imports nothing, so the browser sends the request while it
 * loads the other modules.
 */
const response = fetch("/dashboard/session/token", { method: "POST", credentials: "same-origin" });
// The caller of `takeFirstResponse` handles a failure.
response.catch(() => {});
// Browsers prepare their tables of languages at the first use, which would delay the first view. Now they have time.
Intl.NumberFormat.supportedLocalesOf("en");

/** @type {Promise<Response> | null} */
let unused = response;

/** The response of that request for the first caller, null for later ones. */
export function takeFirstResponse() {
    const taken = unused;
    unused = null;
    return taken;
}
