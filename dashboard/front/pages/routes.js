/** The pages of the dashboard and its navigation. */
import { html } from "../core/html.js";
import { path, query } from "../core/router.js";
import { LazyPage, loadOnce } from "../parts/lazy.js";

/** @typedef {import("../core/texts.js").Key} Key */
/** @typedef {import("../core/account.js").Role} Role */
/** @typedef {{path: RegExp, load: () => Promise<import("../parts/lazy.js").PageModule>}} Route */

/**
 * A path as Django writes it, `links/<uuid:id>`, as an expression whose named groups become properties of the page.
 * @param {string} pattern
 */
export const expressionOf = pattern => new RegExp(`^${pattern.replace(/<\w+:(\w+)>/g, "(?<$1>[^/]+)")}$`);

/**
 * Each page by its path below /dashboard/, as the server lists them in the document (`dashboard/urls.py`). A module of a
 * page exports the component `Page`.
 * @type {Route[]}
 */
const routes = Object.entries(
    /** @type {Record<string, string>} */ (JSON.parse(document.getElementById("pages")?.textContent ?? "{}")),
).map(([pattern, module]) => ({ path: expressionOf(pattern), load: () => import(`./${module}`) }));

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
