/** The totals of the period, with their change from the previous period. */
import { number } from "../../core/format.js";
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { changeOf } from "./names.js";
import { inSameHours } from "./steps.js";

/** @typedef {import("./report.js").Compared} Compared */
/** @typedef {"clicks" | "unique" | "scans" | "asked" | "refused" | "notCounted"} Total */

/** @typedef {number | null} Count null: not known, as of filtered visitors */

const sum = (/** @type {Record<string, number>} */ counts) =>
    Object.values(counts).reduce((total, count) => total + count, 0);

/** @param {Compared} overview visitors to whom the form for the password was shown; who knows it is a click afterwards */
export const askedOf = ({ refused }) => Reflect.get(refused, "password") ?? 0;

/** @param {Compared} overview */
export const refusedOf = overview => sum(overview.refused) - askedOf(overview);

/** @param {Compared} overview */
export const notCountedOf = ({ notCounted }) => sum(notCounted);

/** @type {[key: Total, count: (overview: Compared) => Count][]} */
const TOTALS = [
    ["clicks", overview => overview.totalClicks],
    ["unique", overview => overview.uniqueClicks],
    ["scans", overview => overview.scans],
    ["asked", askedOf],
    ["refused", refusedOf],
    ["notCounted", notCountedOf],
];

/** The totals that are known by the hour, and what their steps call them. @type {Partial<Record<Total, "clicks" | "uniqueClicks">>} */
const BY_HOUR = { clicks: "clicks", unique: "uniqueClicks" };

/**
 * A link without a password has no figure about it.
 * @param {import("./report.js").Figures} figures
 */
export function Totals({ period, filters, overview, before }) {
    const isToday = period.range === "today";
    /** @param {Total} key @param {(overview: Compared) => Count} count */
    const countBefore = (key, count) =>
        before === null || !isToday ? before && count(before) : inSameHours(BY_HOUR[key], before, overview, Date.now());
    /** @param {Total} key @param {(overview: Compared) => Count} count */
    const comparison = (key, count) => {
        const [former, now] = [countBefore(key, count), count(overview)];
        if (now === null) return html`<small>${t("report.uniqueFiltered")}</small>`;
        return former === null ? null : html`<small>${compared(former, now, period)}</small>`;
    };
    return html`
        <dl class="totals">
            ${TOTALS.filter(([key]) => key !== "asked" || askedOf(overview) > 0 || (before !== null && askedOf(before) > 0)).map(
                ([key, count]) => html`
                    <div key=${key} data-total=${key}>
                        <dt>${t(`report.total.${key}`)}</dt>
                        <dd>
                            <strong>${shown(count(overview))}</strong>
                            ${comparison(key, count)}
                        </dd>
                    </div>
                `,
            )}
        </dl>
        ${filters.kind !== undefined && html`<p class="note">${t("report.ofKinds")}</p>`}
        ${overview.importedClicks > 0 && html`<p class="note">${t("report.imported", { count: overview.importedClicks })}</p>`}
    `;
}

/** @param {Count} count */
const shown = count => (count === null ? "–" : number(count));

/**
 * @param {number} before
 * @param {number} now
 * @param {import("./period.js").Period} period
 */
function compared(before, now, { range, comparison }) {
    const change = changeOf(before, now);
    if (comparison === "year") return change === null ? t("report.beforeYear", { count: before }) : t("report.changedYear", { change, count: before });
    if (range === "today") return change === null ? t("report.beforeHours", { count: before }) : t("report.changedHours", { change, count: before });
    return change === null ? t("report.before", { count: before }) : t("report.changed", { change, count: before });
}
