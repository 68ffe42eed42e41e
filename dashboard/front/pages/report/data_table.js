/** A table of figures with bars and a download. It shows the first rows, and all of them on request. */
import { number } from "../../core/format.js";
import { html, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { saveCsv } from "./csv.js";
import { percent } from "./names.js";

/** @typedef {import("./csv.js").Cell} Cell */
/**
 * `show`: the text of a cell on the page, if the file has another one, such as a time.
 * @typedef {{label: string, kind?: "text" | "phrase" | "number" | "percent", show?: (cell: any) => string}} Column
 */

/**
 * `isOn`: whether the report shows this value alone. The form of the filters excludes values, too, so that `exclude` need
 * not be in the order of the focus.
 * @typedef {{isOn: boolean, toggle: () => void, exclude?: () => void, look?: Record<string, string>}} RowFilter
 */

const FIRST_ROWS = 10;
/** @type {Record<string, (value: any) => string>} */
const SHOWN = { number, percent };

/**
 * @param {object} properties
 * @param {string} properties.title names the table for screen readers
 * @param {string} properties.file the name of the download
 * @param {Column[]} properties.columns
 * @param {Cell[][]} properties.rows the first cell names the row
 * @param {number} [properties.bar] the column whose numbers the bars show
 * @param {number} [properties.limit] the number of rows at first
 * @param {(name: any) => string | null} [properties.href] the page about a row
 * @param {(position: number) => RowFilter | null} [properties.filterOf] what the name of a row filters by
 */
export function DataTable({ title, file, columns, rows, bar, limit = FIRST_ROWS, href = () => null, filterOf = () => null }) {
    const isWhole = useSignal(false);
    const shown = isWhole.value ? rows : rows.slice(0, limit);
    const largest = bar === undefined ? 0 : Math.max(1, ...rows.map(row => Number(row[bar])));
    const download = () => saveCsv(file, [columns.map(column => column.label), ...rows]);
    return html`
        ${rows.length === 0
            ? html`<p class="muted">${t("report.nothing")}</p>`
            : html`
                  <div class="overflow-auto" tabindex="0" role="group" aria-label=${title}>
                      <table class="figures">
                          <caption class="visually-hidden">
                              ${title}
                          </caption>
                          <thead>
                              <tr>
                                  ${columns.map(({ label, kind }) => html`<th scope="col" data-kind=${kind}>${label}</th>`)}
                              </tr>
                          </thead>
                          <tbody>
                              ${shown.map(
                                  (row, position) => html`<tr key=${position}>
                                      ${row.map((cell, index) =>
                                          index === 0
                                              ? html`<${RowName} name=${columns[0].show?.(cell) ?? cell} size=${bar === undefined ? 0 : Number(row[bar]) / largest} href=${href(cell)} filter=${filterOf(position)} />`
                                              : html`<${Figure} cell=${cell} column=${columns[index]} />`,
                                      )}
                                  </tr>`,
                              )}
                          </tbody>
                      </table>
                  </div>
              `}
        <p class="actions table-actions">
            ${rows.length > limit &&
            html`<button class="quiet small-button" onClick=${() => (isWhole.value = !isWhole.value)}>
                ${isWhole.value ? t("report.showFewer") : t("report.showAll", { count: rows.length })}
            </button>`}
            ${rows.length > 0 &&
            html`<button class="quiet small-button" aria-label=${t("report.downloadOf", { title })} title=${t("report.downloadOf", { title })} onClick=${download}>
                <${Icon} name="download" />CSV
            </button>`}
        </p>
    `;
}

/** @param {{name: string, size: number, href: string | null, filter: RowFilter | null}} properties */
const RowName = ({ name, size, href, filter }) => html`
    <th scope="row" class="name">
        <span class="bar" style=${{ inlineSize: `${100 * size}%` }}></span>
        ${filter !== null
            ? html`
                  <button type="button" ...${filter.look} dir="auto" aria-pressed=${filter.isOn ? "true" : "false"} title=${t(filter.isOn ? "filters.remove" : "filters.only", { filter: name })} onClick=${filter.toggle}>${name}</button>
                  ${filter.exclude && html`<button type="button" class="icon-button exclude" tabindex="-1" aria-label=${t("filters.exclude", { filter: name })} title=${t("filters.exclude", { filter: name })} onClick=${filter.exclude}><${Icon} name="minus" /></button>`}
              `
            : href === null
              ? html`<span dir="auto">${name}</span>`
              : html`<a dir="auto" href=${href}>${name}</a>`}
    </th>
`;

/** @param {{cell: Cell, column: Column}} properties */
const Figure = ({ cell, column: { kind = "text", show = SHOWN[kind] ?? String } }) => html`
    <td data-kind=${kind} dir=${kind in SHOWN ? undefined : "auto"}>
        ${cell === null ? "–" : show(cell)}
    </td>
`;
