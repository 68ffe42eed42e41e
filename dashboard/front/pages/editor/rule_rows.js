/** The rules of a link, with their conditions and destinations. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { About } from "../../parts/about.js";
import { Icon } from "../../parts/icon.js";
import { Condition, emptyCondition } from "./condition.js";
import { RowName, Rows } from "./rows.js";

/** @typedef {import("./model.js").Rule} Rule */

const MOST_RULES = 10;
const MOST_CONDITIONS = 8;

/** @param {{editing: import("./editing.js").Editing}} properties */
export function RuleRows({ editing }) {
    const { rules } = editing.fields.value;
    /** @param {Rule[]} rows */
    const change = rows => editing.change({ rules: rows });
    return html`
        <p><small>${t("rules.text")}</small></p>
        <${Rows} rows=${rules} onChange=${change} label=${t("section.rules")} show=${(
            /** @type {Rule} */ rule,
            /** @type {(changes: Partial<Rule>) => void} */ set,
            /** @type {number} */ position,
        ) => html`
            <${RowName}
                name=${`rules.${position}.name`}
                position=${position}
                placeholder=${t("rules.named", { position: position + 1 })}
                value=${rule.name}
                onName=${(/** @type {string | null} */ name) => set({ name })}
            />
            ${rule.conditions.map(
                (condition, at) => html`<${Condition}
                    key=${at}
                    name=${`rules.${position}.conditions.${at}`}
                    condition=${condition}
                    error=${errorOf(editing, `rules.${position}.conditions.${at}.`)}
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
                class="quiet small-button"
                onClick=${() => set({ conditions: [...rule.conditions, emptyCondition()] })}
            >
                <${Icon} name="plus" />${t("rules.addCondition")}
            </button>`}
            <label>
                ${t("row.url")}
                <input
                    inputmode="url"
                    dir="ltr"
                    name=${`rules.${position}.url`}
                    required
                    value=${rule.url}
                    onInput=${(/** @type {any} */ event) => set({ url: event.target.value })}
                />
                <${About} id=${`rule-${position}`} error=${errorOf(editing, `rules.${position}.url`)} />
            </label>
        `} />
        ${rules.length < MOST_RULES &&
        html`<button
            type="button"
            onClick=${() => change([...rules, { url: "", conditions: [emptyCondition()] }])}
        >
            <${Icon} name="plus" />${t("rules.add")}
        </button>`}
    `;
}

/**
 * @param {import("./editing.js").Editing} editing
 * @param {string} start of the path of the field
 */
function errorOf(editing, start) {
    return Object.entries(editing.errors.value).find(([path]) => path.startsWith(start))?.[1];
}
