/** The changes of the link, at their place on the curve and as a list below it. */
import { dateAndTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { t, textOr } from "../../core/texts.js";
import { dayIn, weekStart } from "./days.js";

/** @typedef {import("../history/endpoints.js").Change} Change */
/** @typedef {{position: number, changes: Change[]}} Mark */

const HOUR = 3_600_000;

/**
 * The steps in which the link changed, and its changes in each.
 * @param {Change[]} changes
 * @param {{date: string}[]} steps
 * @param {import("./period.js").Period} period
 * @returns {Mark[]}
 */
export function marksOf(changes, steps, { interval, zone }) {
    /** @param {Date} moment @param {string} date of a step */
    const isIn = (moment, date) => {
        if (interval === "hour") return 0 <= moment.getTime() - Date.parse(date) && moment.getTime() - Date.parse(date) < HOUR;
        const day = dayIn(zone, moment);
        if (interval === "week") return weekStart(day) === weekStart(date);
        return interval === "month" ? day.startsWith(date) : day === date;
    };
    return steps
        .map(({ date }, position) => ({ position, changes: changes.filter(change => isIn(new Date(change.changedAt), date)) }))
        .filter(mark => mark.changes.length > 0);
}

/** What changed, in a few words: the names of the fields, or what was done with the link. @param {Change} change */
export function wordsOf({ action, before, after }) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    if (action !== "link.updated" || names.length === 0) return textOr(`action.${action}`, action);
    return [...new Set(names.map(name => textOr(`field.${name}`, name)))].join(", ");
}

/** @param {{link: string, marks: Mark[]}} properties */
export function Annotations({ link, marks }) {
    const changes = marks.flatMap(mark => mark.changes);
    if (changes.length === 0) return null;
    return html`
        <details class="annotations">
            <summary>${t("report.changes", { count: changes.length })}</summary>
            <ul>
                ${changes.map(
                    change => html`<li key=${change._id}><time datetime=${change.changedAt}>${dateAndTime(change.changedAt)}</time>: ${wordsOf(change)}</li>`,
                )}
            </ul>
            <a href=${`/dashboard/links/${link}/history`}>${t("history.ofLink")}</a>
        </details>
    `;
}
