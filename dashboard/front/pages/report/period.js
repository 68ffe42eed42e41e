/** The period of a report, from the address of the page: days, steps, time zone, and what to compare it with. */
import { ownZone } from "../../core/zones.js";
import { addDays, countDays, isDay, isZone, monthStart, today } from "./days.js";

/** @typedef {"today" | "7d" | "30d" | "90d" | "mtd" | "12m" | "ytd" | "all" | "custom"} Range */
/** @typedef {"" | "previous" | "year"} Comparison */
/** @typedef {"hour" | "day" | "week" | "month"} Interval */
/** @typedef {{start: string, end: string}} Days */

/**
 * @typedef {object} Period
 * @property {Range} range
 * @property {Days | null} days null: the lifetime of the link
 * @property {Interval} interval
 * @property {Interval[]} intervals those that the range allows
 * @property {string} zone
 * @property {Comparison} comparison "" for the lifetime, which nothing precedes
 * @property {boolean} isLive whether new clicks can change the figures
 */

/** @type {Range[]} */
export const RANGES = ["today", "7d", "30d", "90d", "mtd", "12m", "ytd", "all", "custom"];
/** @type {Range} */
export const DEFAULT_RANGE = "30d";
/** The ranges that the API has by another name. */
export const API_PERIODS = new Map([["12m", "12mo"]]);
/** The parameters that the API has by another name. */
export const API_NAMES = new Map([
    ["start", "startDate"],
    ["end", "endDate"],
    ["zone", "timezone"],
]);
// Days are the nearest to the hours of the API.
const RANGES_OF_PERIODS = new Map([["24h", "today"], ...[...API_PERIODS].map(([range, period]) => /** @type {const} */ ([period, range]))]);
const LENGTHS = { today: 1, "7d": 7, "30d": 30, "90d": 90 };
// The limit of the API.
const MAX_DAYS_BY_HOUR = 31;

/**
 * @param {URLSearchParams} query
 * @returns {Period}
 */
export function periodOf(query) {
    const requestedZone = query.get("zone") ?? "";
    const zone = isZone(requestedZone) ? requestedZone : ownZone;
    const range = RANGES.find(name => name === query.get("range")) ?? DEFAULT_RANGE;
    const current = today(zone);
    const days = daysOf(range, current, query);
    // A day that is not over compares with the same hours of the day before.
    const intervals = range === "today" ? /** @type {Interval[]} */ (["hour"]) : intervalsOf(days);
    return {
        range,
        days,
        interval: intervals.find(name => name === query.get("interval")) ?? defaultInterval(range),
        intervals,
        zone,
        comparison: days === null ? "" : comparisonOf(query),
        isLive: days === null || days.end >= current,
    };
}

/**
 * An address with the API's names of the period, in the names of the page. Null: it has none of them.
 * @param {URLSearchParams} query
 * @returns {URLSearchParams | null}
 */
export function inOwnNames(query) {
    if (!["period", ...API_NAMES.values()].some(name => query.has(name))) return null;
    const own = new URLSearchParams(query);
    /** @param {string} name @param {string | null} value */
    const add = (name, value) => value && !own.has(name) && own.set(name, value);
    const period = query.get("period");
    add("range", period && (RANGES_OF_PERIODS.get(period) ?? period));
    if (query.has("startDate") || query.has("endDate")) add("range", "custom");
    own.delete("period");
    for (const [name, apiName] of API_NAMES) {
        add(name, query.get(apiName));
        own.delete(apiName);
    }
    return own;
}

/**
 * @param {Range} range
 * @param {string} current the current day
 * @param {URLSearchParams} query
 * @returns {Days | null}
 */
function daysOf(range, current, query) {
    if (range === "all") return null;
    if (range === "12m") return { start: monthStart(current, -11), end: current };
    if (range === "mtd") return { start: monthStart(current, 0), end: current };
    if (range === "ytd") return { start: `${current.slice(0, 4)}-01-01`, end: current };
    if (range !== "custom") return { start: addDays(current, 1 - LENGTHS[range]), end: current };
    const end = validDay(query.get("end")) ?? current;
    const start = validDay(query.get("start")) ?? addDays(end, 1 - LENGTHS["30d"]);
    return start <= end ? { start, end } : { start: end, end: start };
}

/** @param {string | null} text */
const validDay = text => (text !== null && isDay(text) ? text : null);

/**
 * @param {Days | null} days
 * @returns {Interval[]}
 */
function intervalsOf(days) {
    const isShort = days !== null && countDays(days.start, days.end) <= MAX_DAYS_BY_HOUR;
    return isShort ? ["hour", "day", "week", "month"] : ["day", "week", "month"];
}

/**
 * @param {Range} range
 * @returns {Interval}
 */
function defaultInterval(range) {
    if (range === "today") return "hour";
    return range === "12m" || range === "ytd" ? "month" : "day";
}

/** @param {URLSearchParams} query @returns {Comparison} */
function comparisonOf(query) {
    if (!query.has("compare")) return "";
    return query.get("compare") === "year" ? "year" : "previous";
}
