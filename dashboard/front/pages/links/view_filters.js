/** Saved views have the parameters of the API; the address of the list has days of this browser's time zone. */
import { DEFAULT_ORDER, filters, listAddress, parameters } from "./state.js";

/** @type {import("../../parts/saved_views.js").Views} */
export const VIEWS_OF_LINKS = {
    has: ({ report }) => report === null,
    plain: "/dashboard/",
    all: "views.all",
    save: "views.save",
    label: "views.label",
    addressOf: view => addressOfView(view),
    current: () => listAddress({ ...filters.value, page: 1 }),
    kept: () => ({ filters: filtersToSave(), report: null }),
};

/** @returns {Record<string, string>} the current filters and order as a view keeps them */
export function filtersToSave() {
    const { sortBy, sortOrder } = filters.value;
    const order = sortBy === DEFAULT_ORDER.sortBy && sortOrder === DEFAULT_ORDER.sortOrder ? {} : { sortBy, sortOrder };
    const values = Object.entries({ ...parameters(), ...order });
    return Object.fromEntries(values.filter(([, value]) => value !== undefined && value !== "").map(([name, value]) => [name, String(value)]));
}

/**
 * The address of the list with the filters of a view.
 * @param {{filters: import("../../core/view_endpoints.js").SavedView["filters"]}} view
 */
export function addressOfView({ filters: saved }) {
    const { search = "", tags = "", tagsMode = "", excludeTags = "", status = "", health = "", archived = "" } = saved;
    const { domainId: domain = "", expiresWithin: expires = "" } = saved;
    const from = dayOf(saved.createdFrom);
    const until = dayOf(saved.createdBefore, -1);
    const { sortBy, sortOrder } = { ...DEFAULT_ORDER, ...saved };
    const ofTags = { tags, tagsMode: tagsMode === "any" ? "" : tagsMode, excludeTags };
    return listAddress({ search, ...ofTags, status, health, archived, domain, from, until, expires, sortBy, sortOrder, page: 1 });
}

/**
 * The local day of a moment.
 * @param {string | undefined} moment
 * @param {number} [later] milliseconds
 */
function dayOf(moment, later = 0) {
    if (moment === undefined) return "";
    const time = new Date(Date.parse(moment) + later);
    return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}
