/** The columns of a file in which the service finds no destinations: which of them is which field. */
import { html, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { cellsOf } from "./rows.js";

/** @typedef {import("./run.js").Run} Run */

/** The fields that a column can have, and what such columns are often called. */
const FIELDS = /** @type {const} */ ([
    ["originalUrl", /url|target|destin|ziel|adress|address|^link$/i],
    ["customCode", /slug|code|alias|key|back.?half|path|kürzel|kurz/i],
    ["title", /title|titel|name/i],
    ["description", /descr|beschr|note|comment/i],
    ["tags", /tag|label|categor|kateg/i],
    ["clickCount", /click|klick|visit|hit|besuch/i],
    ["createdAt", /creat|erstellt|angelegt|date|datum/i],
    ["expiresAt", /expir|ablauf|until|bis/i],
]);

/**
 * The positions of the columns that are probably these fields. A column is one field.
 * @param {string[]} columns
 */
export function guessed(columns) {
    /** @type {Map<string, number>} */
    const guesses = new Map();
    for (const [field, pattern] of FIELDS) {
        const taken = [...guesses.values()];
        const position = columns.findIndex((column, at) => pattern.test(column) && !taken.includes(at));
        if (position >= 0) guesses.set(field, position);
    }
    return guesses;
}

/** @param {{run: Run}} properties */
export function Columns({ run }) {
    const { head = "", separator = "," } = run.table;
    const columns = cellsOf(head.replace(/^\uFEFF/, ""), separator);
    const chosen = useSignal(guessed(columns));
    const example = cellsOf(run.table.rows[0] ?? "", separator);
    return html`
        <form
            class="import-columns"
            onSubmit=${(/** @type {Event} */ event) => {
                event.preventDefault();
                run.rename(new Map(Array.from(chosen.value, ([field, position]) => /** @type {const} */ ([position, field]))));
                run.check();
            }}
        >
            <h3>${t("import.columns")}</h3>
            <p>${t("import.columnsText")}</p>
            ${FIELDS.map(
                ([field]) => html`
                    <label key=${field}>
                        ${t(field === "clickCount" || field === "createdAt" ? `import.${field}` : `field.${field}`)}
                        <select
                            name=${field}
                            required=${field === "originalUrl"}
                            onChange=${(/** @type {any} */ event) => {
                                const next = new Map(chosen.value);
                                if (event.target.value === "") next.delete(field);
                                else next.set(field, Number(event.target.value));
                                chosen.value = next;
                            }}
                        >
                            <option value="" selected=${!chosen.value.has(field)}>${t("import.noColumn")}</option>
                            ${columns.map(
                                (column, position) => html`
                                    <option key=${position} value=${position} selected=${chosen.value.get(field) === position}>
                                        ${column}${example[position] ? ` (${example[position].slice(0, 40)})` : ""}
                                    </option>
                                `,
                            )}
                        </select>
                    </label>
                `,
            )}
            <div class="actions"><button class="primary">${t("import.useColumns")}</button></div>
        </form>
    `;
}
