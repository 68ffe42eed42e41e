/** Moments as the date and time of a zone, and back: what an `<input type=datetime-local>` holds beside a chosen zone. */

/** @type {Map<string, Intl.DateTimeFormat>} */
const formatters = new Map();
const HALF_A_DAY = 12 * 60 * 60_000;

/** @param {string} zone */
function formatterOf(zone) {
    const known = formatters.get(zone);
    if (known !== undefined) return known;
    const created = new Intl.DateTimeFormat("en", {
        timeZone: zone,
        hourCycle: "h23",
        year: "numeric",
        month: "2-digit",
        day: "2-digit",
        hour: "2-digit",
        minute: "2-digit",
        second: "2-digit",
    });
    formatters.set(zone, created);
    return created;
}

/**
 * @param {number} time
 * @param {string} zone
 */
function wallClock(time, zone) {
    const parts = Object.fromEntries(formatterOf(zone).formatToParts(time).map(({ type, value }) => [type, value]));
    return `${parts.year.padStart(4, "0")}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}:${parts.second}`;
}

/**
 * @param {number} time
 * @param {string} zone
 */
const offsetAt = (time, zone) => Date.parse(`${wallClock(time, zone)}Z`) - time;

/**
 * The value of an `<input type=datetime-local>`. Empty without a moment.
 * @param {string | null | undefined} moment ISO 8601
 * @param {string} zone
 */
export const toZoned = (moment, zone) => (moment ? wallClock(Date.parse(moment), zone).slice(0, 16) : "");

/**
 * ISO 8601 in UTC. Empty for an input that is empty or beyond the dates of JavaScript. Of an hour that a change of the
 * clocks repeats, the first one; a time that it leaves out is as much later.
 * @param {string} text of an `<input type=datetime-local>`
 * @param {string} zone
 */
export function fromZoned(text, zone) {
    const wall = Date.parse(`${text}Z`);
    if (Number.isNaN(wall)) return "";
    const [before, after] = [wall - HALF_A_DAY, wall + HALF_A_DAY].map(time => offsetAt(time, zone));
    const isAfter = offsetAt(wall - before, zone) !== before && offsetAt(wall - after, zone) === after;
    return new Date(wall - (isAfter ? after : before)).toISOString();
}
