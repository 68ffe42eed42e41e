/** The steps of a report in time: hours, days, weeks or months, and their names. */
import { language } from "../../core/texts.js";
import { addDays, monthStart, toDate, weekStart } from "./days.js";

/** @typedef {import("./period.js").Interval} Interval */
/** @typedef {import("./endpoints.js").Overview["clicksByDate"]} ClicksByDate */
/** @typedef {{date: string, clicks: number, uniqueClicks: number | null}} Step `date` is as in the API; of a week, its first day */

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
            uniqueClicks: uniqueClicks === null ? null : (week.uniqueClicks ?? 0) + uniqueClicks,
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

/**
 * The days of a step that lie in the period. Null: the step is shorter than a day.
 * @param {string} date of the step
 * @param {Interval} interval
 * @param {import("./period.js").Days | null} days
 * @returns {import("./period.js").Days | null}
 */
export function daysOfStep(date, interval, days) {
    if (interval === "hour") return null;
    const start = interval === "month" ? `${date}-01` : date;
    const last = { day: start, week: addDays(weekStart(start), 6), month: addDays(monthStart(start, 1), -1) }[interval];
    const [from, until] = [days?.start ?? start, days?.end ?? last];
    return { start: start < from ? from : start, end: last > until ? until : last };
}

/**
 * A count of the day before in the hours of today that have begun; null if it is known only for whole days.
 * @param {"clicks" | "uniqueClicks" | undefined} name
 * @param {Pick<import("./endpoints.js").Overview, "clicksByDate">} before by hour
 * @param {Pick<import("./endpoints.js").Overview, "clicksByDate">} overview by hour
 * @param {number} now in milliseconds
 */
export function inSameHours(name, before, overview, now) {
    if (name === undefined) return null;
    const begun = overview.clicksByDate.filter(({ date }) => Date.parse(date) <= now).length;
    return before.clicksByDate.slice(0, begun).reduce((total, step) => total + (step[name] ?? 0), 0);
}
