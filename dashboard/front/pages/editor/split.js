/** Destinations that get a share of the visitors. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { About, Section } from "./inputs.js";
import { Rows } from "./rows.js";

/** @typedef {import("./model.js").Variant} Variant */

const MOST = 5;

/** @param {{editing: import("./editing.js").Editing}} properties */
export function Split({ editing }) {
    const { split } = editing.fields.value;
    const rest = 100 - split.reduce((sum, { weight }) => sum + (weight || 0), 0);
    /** @param {Variant[]} rows */
    const change = rows => editing.change({ split: rows });
    // The API refuses a single entry, so the first click adds two.
    const add = () => {
        const added = split.length === 0 ? 2 : 1;
        change([...split, ...Array.from({ length: added }, () => ({ url: "", weight: 25 }))]);
    };
    return html`
        <${Section} title=${t("section.split")} isOpen=${split.length > 0}>
            <p><small>${t("split.text")}</small></p>
            <${Rows} rows=${split} onChange=${change} label=${t("section.split")} show=${(
                /** @type {Variant} */ row,
                /** @type {(changes: Partial<Variant>) => void} */ set,
                /** @type {number} */ position,
            ) => html`
                <div class="grid">
                    <label>
                        ${t("row.url")}
                        <input
                            type="url"
                            name=${`split.${position}.url`}
                            required
                            value=${row.url}
                            onInput=${(/** @type {any} */ event) => set({ url: event.target.value })}
                        />
                        <${About} id=${`split-${position}`} error=${editing.errors.value[`split.${position}.url`]} />
                    </label>
                    <label>
                        ${t("row.weight")}
                        <input
                            type="number"
                            name=${`split.${position}.weight`}
                            min="1"
                            max="99"
                            required
                            value=${row.weight}
                            onInput=${(/** @type {any} */ event) => set({ weight: Number(event.target.value) })}
                        />
                    </label>
                </div>
            `} />
            ${split.length > 0 && html`<p role="status">${t("split.rest", { percent: rest })}</p>`}
            ${split.length < MOST &&
            html`<button type="button" class="secondary" onClick=${add}>${t("split.add")}</button>`}
        <//>
    `;
}
