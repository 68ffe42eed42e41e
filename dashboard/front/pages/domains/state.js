/** The domains that the page shows. */
import { messageOf } from "../../core/failures.js";
import { signal } from "../../core/html.js";
import { listDomains } from "./endpoints.js";

/** @type {import("../../core/html.js").Signal<import("./endpoints.js").ListedDomain[] | null>} */
export const domains = signal(/** @type {import("./endpoints.js").ListedDomain[] | null} */ (null));
export const failure = signal(/** @type {string | null} */ (null));
/** The domain that was added last. Its card gets the focus. */
export const added = signal("");

let latest = 0;

/** A later call replaces an earlier one. */
export async function load() {
    const own = ++latest;
    try {
        const listed = await listDomains();
        if (own !== latest) return;
        domains.value = listed;
        failure.value = null;
    } catch (error) {
        if (own === latest) failure.value = messageOf(error);
    }
}
