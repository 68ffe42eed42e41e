/** The steps of a report in time: hours, days, weeks or months, and their names. */
import { language } from "../../core/texts.js";
import { toDate, weekStart } from "./days.js";

/** @typedef {import("./period.js").Interval} Interval */
/** @typedef {import("./endpoints.js").Overview["clicksByDate"]} ClicksByDate */
/** @typedef {{date: string, clicks: number, uniqueClicks: number}} Step `date` is as in the API; of a week, its first day */

/**
 * The API has no weeks. Weeks begin on Mondays; the first and the last may be partial.
 * @param {ClicksByDate} clicksByDate
 * @param {Interval} interval
 * @returns {Step[]}
 */
export function stepsOf(clicksByDate, interval) {
    if (interval !== "week") return clicksByDate;
    /** @type {Map<string, Step>} */
    const weeks = new Map();
    for (const { date, clicks, uniqueClicks } of clicksByDate) {
        const monday = weekStart(date);
        const week = weeks.get(monday) ?? { date, clicks: 0, uniqueClicks: 0 };
        weeks.set(monday, {
            date: week.date,
            clicks: week.clicks + clicks,
            uniqueClicks: week.uniqueClicks + uniqueClicks,
        });
    }
    return [...weeks.values()];
}

/** @type {Record<Interval, {short: Intl.DateTimeFormatOptions, long: Intl.DateTimeFormatOptions}>} */
const FORMATS = {
    hour: {
        short: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
        long: { dateStyle: "medium", timeStyle: "short" },
    },
    day: { short: { day: "numeric", month: "short" }, long: { dateStyle: "full" } },
    week: { short: { day: "numeric", month: "short" }, long: { dateStyle: "medium" } },
    month: { short: { month: "short", year: "2-digit" }, long: { month: "long", year: "numeric" } },
};

/**
 * Names the steps of an interval. An hour is a moment, so its name depends on the time zone.
 * @param {Interval} interval
 * @param {string} zone
 * @param {"short" | "long"} style
 * @returns {(date: string) => string}
 */
export function namer(interval, zone, style) {
    const timeZone = interval === "hour" ? zone : "UTC";
    const format = new Intl.DateTimeFormat(language, { ...FORMATS[interval][style], timeZone });
    return date => format.format(momentOf(date, interval));
}

/**
 * @param {string} date
 * @param {Interval} interval
 */
function momentOf(date, interval) {
    if (interval === "hour") return new Date(date);
    return toDate(interval === "month" ? `${date}-01` : date);
}
