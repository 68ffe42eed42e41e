/** The state of the list. The filters are in the address, so that a reload and the back button keep them. */
import { isAbort } from "../../core/api.js";
import { listLinks } from "../../core/endpoints.js";
import { messageOf, report } from "../../core/failures.js";
import { computed, signal } from "../../core/html.js";
import { listOf } from "../../core/lists.js";
import { navigate, query } from "../../core/router.js";
import { STATUSES } from "../../core/status.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { loadSparklines } from "./sparklines.js";

/** @typedef {import("../../core/endpoints.js").ListedUrl} ListedUrl */
/** @typedef {import("../../core/endpoints.js").LinkPage} LinkPage */
/** @typedef {"search" | "tags" | "tagsMode" | "excludeTags" | "status" | "health" | "archived" | "domain" | "from" | "until" | "expires" | "sortBy" | "sortOrder" | "page"} Filter */

export const PAGE_SIZE = 50;

// In every time zone, the midnights before and after these days have a year of four digits.
export const FIRST_DAY = "1970-01-01";
export const LAST_DAY = "9998-12-31";

/** @param {string} text */
export const isDay = text => /^\d{4}-\d\d-\d\d$/.test(text) && text >= FIRST_DAY && text <= LAST_DAY;

/** No filter, whatever the order of the list. */
export const UNFILTERED = { search: "", tags: "", tagsMode: "", excludeTags: "", status: "", health: "", archived: "", domain: "", from: "", until: "", expires: "" };

export const DEFAULT_ORDER = { sortBy: "createdAt", sortOrder: "desc" };

/** What a filter can choose besides the default, which hides archived links. */
export const ARCHIVED = /** @type {const} */ (["yes", "any"]);

/** The days within which links expire that a filter can choose. */
export const EXPIRY_DAYS = ["7", "30", "90"];

/** @type {import("../../core/html.js").Signal<LinkPage | null>} */
export const shown = signal(/** @type {LinkPage | null} */ (null));
/** The number of archived links, if there are no others. */
export const onlyArchived = signal(0);
/** Whether filters were set when the shown links were loaded. */
export const isShownFiltered = signal(false);
export const isLoading = signal(false);
export const failure = signal(/** @type {string | null} */ (null));
/** The selected links, by id. They stay selected on other pages of the list. */
export const selected = signal(/** @type {ReadonlyMap<string, ListedUrl>} */ (new Map()));
/** Links that are about to be deleted. The list hides them. */
export const leaving = signal(/** @type {ReadonlySet<string>} */ (new Set()));

export const rows = computed(() => shown.value?.urls.filter(link => !leaving.value.has(link._id)) ?? []);
export const filters = computed(() => {
    const values = query.value;
    /** @param {Filter} name */
    const value = name => values.get(name) ?? "";
    /** @param {"from" | "until"} name */
    const dayOf = name => (isDay(value(name)) ? value(name) : "");
    return {
        search: value("search"),
        tags: value("tags"),
        // Of a single tag, links have any and all.
        tagsMode: value("tagsMode") === "all" && listOf(value("tags")).length > 1 ? "all" : "",
        excludeTags: value("excludeTags"),
        status: STATUSES.find(status => status === value("status")) ?? /** @type {const} */ (""),
        health: value("health") === "dead" ? /** @type {const} */ ("dead") : /** @type {const} */ (""),
        archived: ARCHIVED.find(chosen => chosen === value("archived")) ?? /** @type {const} */ (""),
        domain: value("domain"),
        from: dayOf("from"),
        until: dayOf("until"),
        expires: EXPIRY_DAYS.find(days => days === value("expires")) ?? "",
        sortBy: value("sortBy") || DEFAULT_ORDER.sortBy,
        sortOrder: value("sortOrder") || DEFAULT_ORDER.sortOrder,
        page: Math.max(1, Number.parseInt(value("page"), 10) || 1),
    };
});
export const isFiltered = computed(() =>
    Object.keys(UNFILTERED).some(name => filters.value[/** @type {keyof typeof UNFILTERED} */ (name)] !== ""),
);

/** Whether there is nothing to filter: the workspace has no links. */
export const isBare = computed(
    () => shown.value !== null && shown.value.urls.length === 0 && !isShownFiltered.value && onlyArchived.value === 0,
);

/**
 * The address of the list with these filters. Equal filters have equal addresses.
 * @param {Record<Filter, string | number>} chosen
 */
export function listAddress(chosen) {
    const { sortBy, sortOrder, page, ...others } = chosen;
    const isOrdered = sortBy !== DEFAULT_ORDER.sortBy || sortOrder !== DEFAULT_ORDER.sortOrder;
    const all = { ...others, ...(isOrdered && { sortBy, sortOrder }), page: page === 1 ? "" : page };
    const next = new URLSearchParams();
    for (const [name, value] of Object.entries(all).sort()) if (value !== "") next.set(name, String(value));
    return `/dashboard/${next.size > 0 ? `?${next}` : ""}`;
}

/** The filters as parameters of the API. The first and the last day are those of the browser's time zone. */
export function parameters() {
    const { search, tags, tagsMode, excludeTags, status, health, archived, domain, from, until, expires } = filters.value;
    const created = { createdFrom: startOf(from), createdBefore: startOf(until, 1) };
    const chosen = { health: health || undefined, archived: archived || undefined, domainId: domain || undefined };
    return { search, tags, tagsMode, excludeTags, status, ...chosen, expiresWithin: expires, ...created };
}

/**
 * Undefined: the filter is not set, or the month has no such day.
 * @param {string} day such as 2030-12-31
 * @param {number} [later] number of days
 */
function startOf(day, later = 0) {
    const start = new Date(`${day}T00:00`);
    start.setDate(start.getDate() + later);
    return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}

/**
 * A change of a filter returns to the first page.
 * @param {Partial<Record<Filter, string | number>>} changes
 */
export function change(changes) {
    const next = new URLSearchParams(query.value);
    if (!("page" in changes)) next.delete("page");
    for (const [name, value] of Object.entries(changes)) {
        if (value === "") next.delete(name);
        else next.set(name, String(value));
    }
    navigate(`/dashboard/${next.size > 0 ? `?${next}` : ""}`, { replace: true });
}

/** @type {AbortController | null} */
let running = null;

/** Loads the list of the current filters. A later call replaces an earlier one. */
export async function load() {
    running?.abort();
    const own = new AbortController();
    running = own;
    isLoading.value = true;
    const { sortBy, sortOrder, page } = filters.value;
    const wasFiltered = isFiltered.value;
    /** @type {any} */
    const requested = { ...parameters(), sortBy, sortOrder, page, limit: PAGE_SIZE };
    try {
        const answer = await listLinks(requested, own.signal);
        const isEmpty = answer.pagination.total === 0 && !wasFiltered;
        const hidden = isEmpty ? (await listLinks({ archived: "yes", limit: 1 }, own.signal)).pagination.total : 0;
        if (running !== own) return;
        onlyArchived.value = hidden;
        isShownFiltered.value = wasFiltered;
        shown.value = answer;
        failure.value = null;
        loadSparklines(answer.urls.map(({ _id }) => _id), own.signal);
    } catch (error) {
        if (running !== own || isAbort(error)) return;
        failure.value = messageOf(error);
    } finally {
        if (running === own) isLoading.value = false;
    }
}

/** The limit of the API for one call. */
const MAX_SELECTED = 1_000;

/**
 * @param {ListedUrl[]} links
 * @param {boolean} isSelected
 */
export function select(links, isSelected) {
    const next = new Map(selected.value);
    for (const link of links) {
        if (isSelected) next.set(link._id, link);
        else next.delete(link._id);
    }
    if (next.size > MAX_SELECTED) toast(t("selection.limit", { count: MAX_SELECTED }), { kind: "failed" });
    else selected.value = next;
}

/** Loads the list, and what has changed of the selected links. */
export async function reload() {
    await load();
    select((shown.value?.urls ?? []).filter(link => selected.value.has(link._id)), true);
}

export function clearSelection() {
    selected.value = new Map();
}

/** The page length of a long list. */
const MOST_PER_CALL = 100;

/** Selects every link that matches the filters, as many as one call of the API can change. */
export async function selectAll() {
    const { sortBy, sortOrder } = filters.value;
    const closing = new AbortController();
    try {
        for (let page = 1; page <= MAX_SELECTED / MOST_PER_CALL; page++) {
            /** @type {any} */
            const requested = { ...parameters(), sortBy, sortOrder, page, limit: MOST_PER_CALL };
            const { urls, pagination } = await listLinks(requested, closing.signal);
            select(urls, true);
            if (page >= pagination.pages) return;
        }
        toast(t("selection.limit", { count: MAX_SELECTED }), { kind: "failed" });
    } catch (error) {
        report(error);
    }
}
