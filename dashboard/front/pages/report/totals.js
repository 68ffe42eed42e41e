/** The totals of the period, with their change from the previous period. */
import { number } from "../../core/format.js";
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { changeOf } from "./names.js";

/** @typedef {import("./endpoints.js").Overview} Overview */
/** @typedef {"clicks" | "unique" | "scans" | "asked" | "refused" | "notCounted"} Total */

const sum = (/** @type {Record<string, number>} */ counts) =>
    Object.values(counts).reduce((total, count) => total + count, 0);

/** @param {Overview} overview visitors to whom the form for the password was shown; who knows it is a click afterwards */
export const askedOf = ({ refused }) => Reflect.get(refused, "password") ?? 0;

/** @param {Overview} overview */
export const refusedOf = overview => sum(overview.refused) - askedOf(overview);

/** @param {Overview} overview */
export const notCountedOf = ({ notCounted }) => sum(notCounted);

/** @type {[key: Total, count: (overview: Overview) => number][]} */
const TOTALS = [
    ["clicks", overview => overview.totalClicks],
    ["unique", overview => overview.uniqueClicks],
    ["scans", overview => overview.scans],
    ["asked", askedOf],
    ["refused", refusedOf],
    ["notCounted", notCountedOf],
];

/** @param {{overview: Overview, before: Overview | null}} properties a link without a password has no figure about it */
export const Totals = ({ overview, before }) => html`
    <dl class="totals">
        ${TOTALS.filter(([key]) => key !== "asked" || askedOf(overview) > 0 || (before !== null && askedOf(before) > 0)).map(
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
