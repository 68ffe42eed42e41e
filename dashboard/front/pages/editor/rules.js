/** Destinations for some visitors. The first rule whose conditions all hold decides. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Condition, emptyCondition } from "./condition.js";
import { About, Section } from "./inputs.js";
import { Rows } from "./rows.js";

/** @typedef {import("./model.js").Rule} Rule */

const MOST_RULES = 10;
const MOST_CONDITIONS = 8;

/** @param {{editing: import("./editing.js").Editing}} properties */
export function Rules({ editing }) {
    const { rules } = editing.fields.value;
    /** @param {Rule[]} rows */
    const change = rows => editing.change({ rules: rows });
    return html`
        <${Section} title=${t("section.rules")} isOpen=${rules.length > 0}>
            <p><small>${t("rules.text")}</small></p>
            <${Rows} rows=${rules} onChange=${change} label=${t("section.rules")} show=${(
                /** @type {Rule} */ rule,
                /** @type {(changes: Partial<Rule>) => void} */ set,
                /** @type {number} */ position,
            ) => html`
                <label>
                    ${t("row.url")}
                    <input
                        type="url"
                        name=${`rules.${position}.url`}
                        required
                        value=${rule.url}
                        onInput=${(/** @type {any} */ event) => set({ url: event.target.value })}
                    />
                    <${About} id=${`rule-${position}`} error=${errorOf(editing, position)} />
                </label>
                ${rule.conditions.map(
                    (condition, at) => html`<${Condition}
                        key=${at}
                        name=${`rules.${position}.conditions.${at}`}
                        condition=${condition}
                        onChange=${(/** @type {Rule["conditions"][number]} */ changed) =>
                            set({ conditions: rule.conditions.map((other, index) => (index === at ? changed : other)) })}
                        onRemove=${rule.conditions.length > 1
                            ? () => set({ conditions: rule.conditions.filter((_, index) => index !== at) })
                            : null}
                    />`,
                )}
                ${rule.conditions.length < MOST_CONDITIONS &&
                html`<button
                    type="button"
                    class="outline secondary"
                    onClick=${() => set({ conditions: [...rule.conditions, emptyCondition()] })}
                >
                    ${t("rules.addCondition")}
                </button>`}
            `} />
            ${rules.length < MOST_RULES &&
            html`<button
                type="button"
                class="secondary"
                onClick=${() => change([...rules, { url: "", conditions: [emptyCondition()] }])}
            >
                ${t("rules.add")}
            </button>`}
        <//>
    `;
}

/**
 * @param {import("./editing.js").Editing} editing
 * @param {number} position
 */
function errorOf(editing, position) {
    const entry = Object.entries(editing.errors.value).find(([name]) => name.startsWith(`rules.${position}.`));
    return entry?.[1];
}
