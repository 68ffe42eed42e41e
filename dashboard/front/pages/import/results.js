/** The result of each row, of the dry run or of the import. */
import { inOwnLanguage } from "../../core/api.js";
import { number } from "../../core/format.js";
import { html, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";

/** @typedef {import("./endpoints.js").Result} Result */

const PAGE_SIZE = 100;

/** @param {{run: import("./run.js").Run}} properties */
export function Results({ run }) {
    const isFiltered = useSignal(false);
    const isWarned = useSignal(false);
    const page = useSignal(1);
    const all = run.results.value;
    if (all.length === 0) return null;
    const shown = all.filter(
        ({ success, warnings = [] }) =>
            (!isFiltered.value && !isWarned.value) || (isFiltered.value && !success) || (isWarned.value && warnings.length > 0),
    );
    const pages = Math.max(1, Math.ceil(shown.length / PAGE_SIZE));
    const at = Math.min(page.value, pages);
    return html`
        <label>
            <input
                type="checkbox"
                checked=${isFiltered.value}
                onChange=${() => {
                    isFiltered.value = !isFiltered.value;
                    page.value = 1;
                }}
            />
            ${t("import.onlyRejected")}
        </label>
        ${all.some(({ warnings = [] }) => warnings.length > 0) &&
        html`<label>
            <input
                type="checkbox"
                checked=${isWarned.value}
                onChange=${() => {
                    isWarned.value = !isWarned.value;
                    page.value = 1;
                }}
            />
            ${t("import.onlyWarned")}
        </label>`}
        <div class="overflow-auto">
            <table class="import-rows">
                <thead>
                    <tr>
                        <th scope="col">${t("import.row")}</th>
                        <th scope="col">${t("import.result")}</th>
                        <th scope="col">${t("column.link")}</th>
                        <th scope="col">${t("field.originalUrl")}</th>
                        <th scope="col">${t("column.clicks")}</th>
                    </tr>
                </thead>
                <tbody>
                    ${shown.slice((at - 1) * PAGE_SIZE, at * PAGE_SIZE).map(
                        result => html`<${Row} key=${result.row} result=${result} run=${run} />`,
                    )}
                </tbody>
            </table>
        </div>
        ${pages > 1 &&
        html`<nav class="pages" aria-label=${t("pages.label")}>
            <button disabled=${at <= 1} onClick=${() => (page.value = at - 1)}>${t("pages.before")}</button>
            <span>${t("pages.position", { page: at, pages })}</span>
            <button disabled=${at >= pages} onClick=${() => (page.value = at + 1)}>${t("pages.after")}</button>
        </nav>`}
    `;
}

/** @param {{result: Result, run: import("./run.js").Run}} properties */
function Row({ result, run }) {
    const { row, url } = result;
    const state = !result.success ? "rejected" : url?._id === undefined ? "accepted" : "imported";
    return html`
        <tr data-row=${row} data-state=${state}>
            <td class="number">${number(row)}</td>
            <td>
                <span class="state" data-state=${state}>${t(`import.${state}`)}</span>
                ${!result.success &&
                html` <small class="error" dir="auto">${run.messagesOf(result).join(" ")}</small>`}
                ${result.success &&
                inOwnLanguage(result.warnings).map(
                    ({ field, message }, position) => html` <small key=${position} class="warning" dir="auto">${field}: ${message}</small>`,
                )}
            </td>
            <td class="short" dir="ltr">${url?.shortUrl?.replace(/^https?:\/\//, "") ?? ""}</td>
            <td><small dir="ltr">${url?.originalUrl ?? run.sourceOf(result)}</small></td>
            <td class="number">${url === undefined ? "" : number(url.clickCount)}</td>
        </tr>
    `;
}
