/** The address of the page, as signals. Links below /dashboard/ change it without a new page. */
import { batch, signal } from "./html.js";
import { inWorkspace } from "./workspace.js";

export const path = signal(location.pathname);
export const query = signal(new URLSearchParams(location.search));

/**
 * @param {string} address
 * @param {{replace?: boolean, scrolls?: boolean}} [options] `scrolls`: to the top
 */
export function navigate(address, { replace = false, scrolls = !replace } = {}) {
    const target = inWorkspace(address);
    if (replace) history.replaceState(null, "", target);
    else history.pushState(null, "", target);
    update();
    if (scrolls) scrollTo(0, 0);
}

function update() {
    batch(() => {
        path.value = location.pathname;
        query.value = new URLSearchParams(location.search);
    });
}

export function startRouter() {
    addEventListener("popstate", update);
    document.addEventListener("click", event => {
        const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
        if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
        if (event.defaultPrevented || event.button !== 0) return;
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        if (link.origin !== location.origin || !link.pathname.startsWith("/dashboard/")) return;
        // A fragment of this page: the browser scrolls there.
        if (link.hash && link.pathname === location.pathname) return;
        event.preventDefault();
        navigate(link.pathname + link.search);
    });
}
