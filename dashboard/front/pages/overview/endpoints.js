/** What the overview reads of the API. */
import { ApiError, call } from "../../core/api.js";
import { addDays, today } from "../report/days.js";
import { listTags } from "../tags/endpoints.js";

/** @typedef {import("../../core/endpoints.js").Paths} Paths */
/** @typedef {import("../../core/endpoints.js").ListedUrl} ListedUrl */
/** @typedef {Paths["/api/analytics"]["get"]["responses"][200]["content"]["application/json"]["data"]} AnyClicks */
/**
 * Without filters, unique clicks are known.
 * @template Figures
 * @typedef {Omit<Figures, "uniqueClicks" | "clicksByDate"> & {uniqueClicks: number, clicksByDate: {date: string, clicks: number, uniqueClicks: number}[]}} Known
 */
/** @typedef {Known<NonNullable<AnyClicks["compared"]>>} Before */
/** @typedef {Known<AnyClicks> & {compared: Before}} Clicks */
/** @typedef {import("../../core/endpoints.js").ListQuery} ListQuery */
/** @typedef {import("../../core/endpoints.js").LinkPage} LinkPage */

/**
 * `clicks` is null if too many links have clicks to add them up.
 * @typedef {{days: number, clicks: Clicks | null, created: number, createdBefore: number, newest: ListedUrl[], links: number}} Overview
 */

const NEWEST = 5;
const BEST = 8;

/**
 * The last days (UTC), and as many before them.
 * @param {number} days
 * @returns {Promise<Overview>}
 */
export async function readOverview(days) {
    const end = today("UTC");
    const start = addDays(end, 1 - days);
    const startBefore = addDays(start, -days);
    const [clicks, created, createdBefore, newest] = await Promise.all([
        readClicks(start, end),
        countLinks({ createdFrom: midnight(start) }),
        countLinks({ createdFrom: midnight(startBefore), createdBefore: midnight(start) }),
        readLinks({ limit: NEWEST }),
    ]);
    return { days, clicks, created, createdBefore, newest: newest.urls, links: newest.pagination.total };
}

/**
 * The tags whose links have the most clicks in the last days (UTC). Not in the same call: of many links, it takes longer.
 * @param {number} days
 * @returns {Promise<{value: string, clicks: number}[]>}
 */
export async function readBestTags(days) {
    const { pagination } = await listTags({ page: 1, limit: 1, search: "" });
    if (pagination.total === 0) return [];
    const endDate = today("UTC");
    const query = { startDate: addDays(endDate, 1 - days), endDate, limit: BEST, groupBy: "tag" };
    /** @type {{groups: {value: string, clicks: number, isRest?: boolean, isUnset?: boolean}[]}} */
    const { groups } = await call("GET", "/analytics", { query });
    return groups.filter(({ isRest, isUnset }) => !isRest && !isUnset);
}

/** @param {string} day */
const midnight = day => `${day}T00:00:00Z`;

/**
 * @param {string} startDate
 * @param {string} endDate
 * @returns {Promise<Clicks | null>}
 */
async function readClicks(startDate, endDate) {
    try {
        return await call("GET", "/analytics", { query: { startDate, endDate, limit: BEST, compare: "previous" } });
    } catch (error) {
        if (error instanceof ApiError && error.errors.some(({ code }) => code === "range_too_large")) return null;
        throw error;
    }
}

/**
 * @param {ListQuery} query
 * @returns {Promise<LinkPage>}
 */
export const readLinks = query => call("GET", "/urls", { query: { ...query } });

/** @param {ListQuery} query */
const countLinks = async query => (await readLinks({ ...query, limit: 1 })).pagination.total;
