/** Days as texts such as 2030-12-31, without a time zone, and the current day of a zone. */

const MILLISECONDS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** @param {string} day */
export const toDate = day => new Date(`${day}T00:00:00Z`);

/** @param {Date} date */
const fromDate = date => date.toISOString().slice(0, 10);

/**
 * Browsers accept February 30 as a day in March, so the text must come out as it went in.
 * @param {string} text
 */
export function isDay(text) {
    if (!DAY.test(text)) return false;
    const date = toDate(text);
    return !Number.isNaN(date.getTime()) && fromDate(date) === text;
}

/**
 * @param {string} day
 * @param {number} days
 */
export const addDays = (day, days) => fromDate(new Date(toDate(day).getTime() + days * MILLISECONDS));

/**
 * The first day of the month that lies this many months after the day's month.
 * @param {string} day
 * @param {number} months
 */
export function monthStart(day, months) {
    const date = toDate(day);
    return fromDate(new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1)));
}

/**
 * The number of days, including both.
 * @param {string} first
 * @param {string} last
 */
export const countDays = (first, last) => (toDate(last).getTime() - toDate(first).getTime()) / MILLISECONDS + 1;

/**
 * The Monday of the week.
 * @param {string} day
 */
export const weekStart = day => addDays(day, -((toDate(day).getUTCDay() + 6) % 7));

/** @param {string} zone */
export const today = zone => dayIn(zone, new Date());

/**
 * The day of a moment in a time zone.
 * @param {string} zone
 * @param {Date} moment
 */
export function dayIn(zone, moment) {
    const format = new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", {
        timeZone: zone,
        year: "numeric",
        month: "2-digit",
        day: "2-digit",
    });
    const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
    return `${parts.year}-${parts.month}-${parts.day}`;
}

/** @param {string} name */
export function isZone(name) {
    try {
        return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
    } catch {
        return false;
    }
}
