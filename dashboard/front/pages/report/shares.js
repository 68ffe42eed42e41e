/** The table of a list of a report, each of whose rows is a filter. */
import { html } from "../../core/html.js";
import { query } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { DataTable } from "./data_table.js";
import { filterBy } from "./filter_bar.js";
import { adding, removing, valuesOf } from "./filters.js";
import { fileName } from "./report.js";

/** @typedef {import("./filters.js").Dimension} Dimension */
/** @typedef {import("./lists.js").Row} Row */

/**
 * What a click on a row does: the report of its values alone, or without them.
 * @param {Dimension} dimension
 * @param {{values: string[]}} row
 * @returns {import("./data_table.js").RowFilter | null}
 */
export function rowFilter(dimension, { values }) {
    if (values.length === 0) return null;
    const chosen = valuesOf(query.value.get(dimension) ?? "");
    const isOn = values.every(value => chosen.some(other => other.value === value && !other.isExcluded));
    return {
        isOn,
        toggle: () => filterBy(isOn ? removing(query.value, dimension, values) : adding(query.value, dimension, values, false)),
        exclude: isOn ? undefined : () => filterBy(adding(query.value, dimension, values, true)),
    };
}

/**
 * A row for each value of a dimension, or of another property, which says what a click on a row does.
 * @param {object} properties
 * @param {import("./report.js").Report} properties.report
 * @param {string} properties.file
 * @param {string} properties.title
 * @param {string} [properties.first] the name of the first column, if it is not the title
 * @param {readonly Row[]} properties.rows
 * @param {number} properties.limit
 * @param {(row: Row) => import("./data_table.js").RowFilter | null} properties.filterOf
 */
export const Shares = ({ report, file, title, first = title, rows, limit, filterOf }) => html`
    <div data-shares=${file}>
        <${DataTable}
            title=${title}
            file=${fileName(report, file)}
            columns=${[
                { label: first },
                { label: t("report.total.clicks"), kind: "number" },
                { label: t("report.share"), kind: "percent" },
            ]}
            rows=${rows.map(({ name, clicks, share }) => [name, clicks, share])}
            bar=${1}
            limit=${limit}
            filterOf=${(/** @type {number} */ position) => filterOf(rows[position])}
        />
    </div>
`;
