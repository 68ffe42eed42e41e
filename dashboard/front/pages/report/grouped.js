/** The clicks by one property, which a report reads only when they are shown. */
import { availableDomains } from "../../core/endpoints.js";
import { html } from "../../core/html.js";
import { listOf, textOfList } from "../../core/lists.js";
import { query } from "../../core/router.js";
import { tagLook } from "../../core/tags.js";
import { t } from "../../core/texts.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { filterBy } from "./filter_bar.js";
import { DIMENSIONS } from "./filters.js";
import { rowsOf } from "./lists.js";
import { shareOf } from "./names.js";
import { Shares, rowFilter } from "./shares.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").Figures} Figures */
/** @typedef {import("./lists.js").Row} Row */
/** @typedef {"tag" | "domain" | Exclude<import("./filters.js").Dimension, "branch" | "kind">} Property */

/**
 * @param {Report} report
 * @param {Figures} figures
 * @param {import("./report.js").GroupBy | null} by null: not yet
 */
export const useGroups = (report, figures, by) =>
    useLoaded(() => (by === null ? Promise.resolve(null) : report.readGroups(figures, by)), [by, JSON.stringify([figures.period.days, figures.period.zone, figures.filters, figures.overview.totalClicks])]);

/** @param {{report: Report, figures: Figures, by: Property, title: string, limit: number}} properties */
export function Grouped({ report, figures, by, title, limit }) {
    const loaded = useGroups(report, figures, by);
    const domains = useLoaded(() => (by === "domain" ? availableDomains() : Promise.resolve([]))).value ?? [];
    if (loaded.value === null) return html`<${Pending} of=${loaded} />`;
    const total = figures.overview.totalClicks;
    const dimension = DIMENSIONS.find(name => name === by);
    /** @param {string} value */
    const nameOf = value => domains.find(({ id }) => id === value)?.fullDomain ?? value;
    const rows =
        dimension === undefined
            ? loaded.value.map(({ value, clicks, isRest, isUnset }) => ({
                  name: isRest ? t("report.other") : isUnset ? t("report.none") : nameOf(value),
                  // Neither selects links.
                  values: isRest || isUnset ? [] : [value],
                  clicks,
                  share: shareOf(clicks, total),
              }))
            : rowsOf(dimension, loaded.value, total);
    /** @param {Row} row */
    const filterOf = row => (dimension === undefined ? selecting(by === "tag" ? "tags" : "domainId", row.values[0]) : rowFilter(dimension, row));
    return html`<${Shares} report=${report} file=${by} title=${title} rows=${rows} limit=${limit} filterOf=${filterOf} />`;
}

/**
 * What a click on a tag or a domain does: the report of its links alone.
 * @param {"tags" | "domainId"} name
 * @param {string | undefined} value
 * @returns {import("./data_table.js").RowFilter | null}
 */
function selecting(name, value) {
    if (value === undefined) return null;
    const chosen = name === "tags" ? listOf(query.value.get(name) ?? "") : [query.value.get(name)];
    const isOn = chosen.some(other => other?.toLowerCase() === value.toLowerCase());
    return { isOn, look: name === "tags" ? tagLook(value) : undefined, toggle: () => filterBy({ [name]: isOn ? null : name === "tags" ? textOfList([value]) : value, ...(name === "tags" && { tagsMode: null }) }) };
}
