/** The pages of the dashboard, and the places of its navigation. */
import { may, workspace } from "../core/account.js";
import { html } from "../core/html.js";
import { path, query } from "../core/router.js";
import { LazyPage, loadOnce } from "../parts/lazy.js";

/** @typedef {import("../core/texts.js").Key} Key */
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

/** An address that no page has. @type {Route} */
const NOWHERE = { path: /^$/, load: () => import("./nowhere.js") };

/** @typedef {import("../parts/icon.js").IconName} IconName */
/** @typedef {{address: string, label: Key, icon: IconName, isCurrent: (path: string) => boolean}} Place */

/** @param {string[]} starts */
const under = starts => (/** @type {string} */ current) => starts.some(start => current.startsWith(start));

/** The page of the team: its members. A personal workspace has none, so its page offers to create another. */
function teamAddress() {
    const current = workspace.value;
    return current === undefined || current.isPersonal ? "/dashboard/workspaces" : `/dashboard/workspaces/${current._id}`;
}

/**
 * The places of the navigation.
 * @returns {Place[]}
 */
export const places = () => [
    { address: "/dashboard/overview", label: "overview.title", icon: "layout-dashboard", isCurrent: under(["/dashboard/overview"]) },
    {
        address: "/dashboard/",
        label: "nav.links",
        icon: "link",
        isCurrent: current => current === "/dashboard/" || under(["/dashboard/links/", "/dashboard/new", "/dashboard/deleted", "/dashboard/import", "/dashboard/start"])(current),
    },
    { address: "/dashboard/analytics", label: "analytics.title", icon: "chart-no-axes-column", isCurrent: under(["/dashboard/analytics"]) },
    { address: "/dashboard/domains", label: "nav.domains", icon: "globe", isCurrent: under(["/dashboard/domains"]) },
    { address: teamAddress(), label: "nav.team", icon: "users", isCurrent: under(["/dashboard/workspaces"]) },
    {
        address: "/dashboard/account",
        label: "nav.settings",
        icon: "settings",
        isCurrent: under(["/dashboard/account", "/dashboard/tags", "/dashboard/utm-templates", "/dashboard/keys", "/dashboard/webhooks", "/dashboard/history"]),
    },
];

/**
 * The pages that the palette finds, those for the role of the account only.
 * @returns {{address: string, label: Key, icon: IconName}[]}
 */
export const pagesToFind = () => [
    ...(may("editor")
        ? [
              { address: "/dashboard/new", label: /** @type {const} */ ("nav.new"), icon: /** @type {const} */ ("plus") },
              { address: "/dashboard/new/many", label: /** @type {const} */ ("many.title"), icon: /** @type {const} */ ("copy-plus") },
              { address: "/dashboard/import", label: /** @type {const} */ ("import.title"), icon: /** @type {const} */ ("upload") },
          ]
        : []),
    ...places(),
    { address: "/dashboard/deleted", label: "deleted.title", icon: "trash-2" },
    { address: "/dashboard/workspaces", label: "workspaces.title", icon: "users" },
    { address: "/dashboard/tags", label: "tags.title", icon: "tag" },
    { address: "/dashboard/utm-templates", label: "templates.title", icon: "megaphone" },
    { address: "/dashboard/keys", label: "apiKeys.pageTitle", icon: "key-round" },
    ...(may("admin")
        ? [
              { address: "/dashboard/webhooks", label: /** @type {const} */ ("webhooks.title"), icon: /** @type {const} */ ("route") },
              { address: "/dashboard/history", label: /** @type {const} */ ("history.title"), icon: /** @type {const} */ ("history") },
          ]
        : []),
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
    return { below, route: NOWHERE, groups: {} };
}
