/** Numbers and times in the language of the page and the browser's time zone. */
import { language } from "./texts.js";

/**
 * A formatter that is created when it is first used, because the language is loaded by then. Creating one takes many times
 * longer than formatting.
 * @template T
 * @param {() => T} create
 * @returns {() => T}
 */
export function once(create) {
    /** @type {T | undefined} */
    let created;
    return () => (created ??= create());
}

const numbers = once(() => new Intl.NumberFormat(language));
const days = once(() => new Intl.DateTimeFormat(language, { dateStyle: "medium" }));
const thisYear = once(() => new Intl.DateTimeFormat(language, { day: "numeric", month: "short" }));
const times = once(() => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }));

/** @param {number} value */
export const number = value => numbers().format(value);

/** @param {string} moment ISO 8601 */
export const day = moment => days().format(new Date(moment));

/**
 * Short: without the year, if it is the current one.
 * @param {string} moment ISO 8601
 */
export function shortDay(moment) {
    const time = new Date(moment);
    return time.getFullYear() === new Date().getFullYear() ? thisYear().format(time) : days().format(time);
}

/** @param {string} moment ISO 8601 */
export const dateAndTime = moment => times().format(new Date(moment));

