/** The totals of the period, with their change from the previous period. */
import { number } from "../../core/format.js";
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { changeOf } from "./names.js";

/** @typedef {import("./endpoints.js").Overview} Overview */

const sum = (/** @type {Record<string, number>} */ counts) =>
    Object.values(counts).reduce((total, count) => total + count, 0);

/** @type {[key: "clicks" | "unique" | "scans" | "refused" | "notCounted", count: (overview: Overview) => number][]} */
const TOTALS = [
    ["clicks", overview => overview.totalClicks],
    ["unique", overview => overview.uniqueClicks],
    ["scans", overview => overview.scans],
    ["refused", overview => sum(overview.refused)],
    ["notCounted", overview => sum(overview.notCounted)],
];

/** @param {{overview: Overview, before: Overview | null}} properties */
export const Totals = ({ overview, before }) => html`
    <dl class="totals">
        ${TOTALS.map(
            ([key, count]) => html`
                <div key=${key} data-total=${key}>
                    <dt>${t(`report.total.${key}`)}</dt>
                    <dd>
                        <strong>${number(count(overview))}</strong>
                        ${before !== null && html`<small>${compared(count(before), count(overview))}</small>`}
                    </dd>
                </div>
            `,
        )}
    </dl>
`;

/**
 * @param {number} before
 * @param {number} now
 */
function compared(before, now) {
    const change = changeOf(before, now);
    return change === null ? t("report.before", { count: before }) : t("report.changed", { change, count: before });
}
