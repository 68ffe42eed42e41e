/** Destinations that get a share of the visitors. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { About, Section, hasError } from "./inputs.js";
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
    const holds = split.length === 0 ? t("split.none") : [...split.map(({ weight }) => weight), rest].map(share => `${share} %`).join(" · ");
    return html`
        <${Section} icon="split" title=${t("section.split")} holds=${holds} isWrong=${hasError(editing, ["split"])}>
            <p><small>${t("split.text")}</small></p>
            ${split.length > 0 && html`<${Bar} split=${split} rest=${rest} />`}
            <${Rows} rows=${split} onChange=${change} label=${t("section.split")} show=${(
                /** @type {Variant} */ row,
                /** @type {(changes: Partial<Variant>) => void} */ set,
                /** @type {number} */ position,
            ) => html`
                <input
                    class="row-name"
                    name=${`split.${position}.name`}
                    maxlength="50"
                    dir="auto"
                    aria-label=${t("row.name", { position: position + 1 })}
                    placeholder=${t("split.named", { position: position + 1 })}
                    value=${row.name ?? ""}
                    onInput=${(/** @type {any} */ event) => set({ name: event.target.value || null })}
                />
                <div class="variant">
                    <label>
                        ${t("row.url")}
                        <input
                            type="url"
                            dir="ltr"
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
            html`<button type="button" onClick=${add}><${Icon} name="plus" />${t("split.add")}</button>`}
        <//>
    `;
}

/**
 * The shares as a bar; the numbers beside the rows change them.
 * @param {{split: Variant[], rest: number}} properties
 */
const Bar = ({ split, rest }) => html`
    <div class="split-bar" aria-hidden="true">
        ${[...split.map(({ weight }) => weight || 0), Math.max(0, rest)].map(
            (share, at) => html`<span key=${at} style=${{ flexGrow: share }}>${share >= 8 ? `${share} %` : ""}</span>`,
        )}
    </div>
`;
