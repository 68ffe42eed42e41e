/** The pages of the dashboard. `dashboard/urls.py` lists the same paths and modules. */
import { html } from "../core/html.js";
import { path, query } from "../core/router.js";
import { LazyPage, loadOnce } from "../parts/lazy.js";

/** @typedef {import("../core/texts.js").Key} Key */
/** @typedef {import("../core/account.js").Role} Role */
/** @typedef {{path: RegExp, load: () => Promise<import("../parts/lazy.js").PageModule>}} Route */

/**
 * Each page, by its path below /dashboard/. Named groups of the path become properties of the component `Page` that the
 * module exports.
 * @type {Route[]}
 */
const routes = [
    { path: /^$/, load: () => import("./links/page.js") },
    { path: /^new$/, load: () => import("./editor/page.js") },
    { path: /^links\/(?<id>[^/]+)$/, load: () => import("./editor/page.js") },
    // Report.
    { path: /^links\/(?<id>[^/]+)\/report$/, load: () => import("./report/page.js") },
    // Domains, import, first steps.
    { path: /^domains$/, load: () => import("./domains/page.js") },
    { path: /^import$/, load: () => import("./import/page.js") },
    { path: /^start$/, load: () => import("./start/page.js") },
    // Account.
    { path: /^account$/, load: () => import("./account/page.js") },
    { path: /^workspaces$/, load: () => import("./workspaces/page.js") },
    { path: /^workspaces\/(?<id>[^/]+)$/, load: () => import("./workspaces/workspace_page.js") },
    { path: /^keys$/, load: () => import("./keys/page.js") },
    { path: /^history$/, load: () => import("./history/page.js") },
    { path: /^links\/(?<id>[^/]+)\/history$/, load: () => import("./history/link_page.js") },
];

/** @type {{address: string, label: Key, role?: Role}[]} the entries of the navigation, for accounts with the role */
export const navigation = [
    { address: "/dashboard/", label: "nav.links" },
    { address: "/dashboard/new", label: "nav.new", role: "editor" },
    // Domains, import, first steps.
    { address: "/dashboard/domains", label: "nav.domains" },
    { address: "/dashboard/import", label: "nav.import", role: "editor" },
    // Account.
    { address: "/dashboard/account", label: "nav.account" },
];

/** Loads the module of the current page, so that the first view is complete when it is drawn. */
export const loadCurrentPage = () => loadOnce(currentRoute().route.load);

/** @returns {import("../core/html.js").Children} */
export function currentPage() {
    const { below, route, groups } = currentRoute();
    // A new link for another URL starts with an empty editor.
    const key = `${below} ${query.value.get("url") ?? ""}`;
    return html`<${LazyPage} key=${key} load=${route.load} ...${groups} />`;
}

function currentRoute() {
    const below = path.value.slice("/dashboard/".length);
    for (const route of routes) {
        const match = route.path.exec(below);
        if (match !== null) return { below, route, groups: match.groups ?? {} };
    }
    return { below: "", route: routes[0], groups: {} };
}
