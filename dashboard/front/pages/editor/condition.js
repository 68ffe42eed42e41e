/** One condition of a rule. Times and schedules, which only the API can set, are shown but not edited. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { listOf } from "./model.js";

/** @typedef {import("./model.js").Condition} ConditionOfRule */

const WITH_WORDS = /** @type {const} */ ([
    "country",
    "device",
    "os",
    "browser",
    "language",
    "referrerHost",
    "network",
]);
const TYPES = /** @type {const} */ ([...WITH_WORDS, "query", "scanned"]);

/** @returns {ConditionOfRule} */
export const emptyCondition = () => ({ type: "country", values: [], not: false });

/**
 * @param {object} properties
 * @param {string} properties.name
 * @param {ConditionOfRule} properties.condition
 * @param {(condition: ConditionOfRule) => void} properties.onChange
 * @param {(() => void) | null} properties.onRemove
 */
export function Condition({ name, condition, onChange, onRemove }) {
    const known = TYPES.find(type => type === condition.type);
    return html`
        <div class="condition">
            <select
                aria-label=${t("condition.not")}
                value=${condition.not ? "not" : "is"}
                onChange=${(/** @type {any} */ event) => onChange({ ...condition, not: event.target.value === "not" })}
            >
                <option value="is">${t("condition.is")}</option>
                <option value="not">${t("condition.isNot")}</option>
            </select>
            ${known === undefined
                ? html`<code>${condition.type}: ${JSON.stringify(condition.values)}</code>`
                : html`<select
                      name=${`${name}.type`}
                      aria-label=${t("condition.type")}
                      value=${known}
                      onChange=${(/** @type {any} */ event) =>
                          onChange({ type: event.target.value, values: [], not: condition.not })}
                  >
                      ${TYPES.map(type => html`<option key=${type} value=${type} selected=${type === known}>${t(`condition.${type}`)}</option>`)}
                  </select>`}
            ${known !== undefined &&
            known !== "scanned" &&
            html`<input
                name=${`${name}.values`}
                required
                aria-label=${t("condition.values")}
                placeholder=${t(`condition.example.${known}`)}
                value=${textOf(condition)}
                onChange=${(/** @type {any} */ event) =>
                    onChange(/** @type {any} */ ({ ...condition, values: valuesOf(known, event.target.value) }))}
            />`}
            ${onRemove &&
            html`<button type="button" class="outline secondary" aria-label=${t("condition.remove")} onClick=${onRemove}>×</button>`}
        </div>
    `;
}

/** @param {ConditionOfRule} condition */
function textOf({ type, values }) {
    const list = /** @type {any[]} */ (values ?? []);
    if (type !== "query") return list.join(", ");
    return list.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`)).join(", ");
}

/**
 * @param {string} type
 * @param {string} text
 */
function valuesOf(type, text) {
    const parts = listOf(text);
    if (type !== "query") return parts;
    return parts.map(part => {
        const [name, ...value] = part.split("=");
        return value.length > 0 ? { name, value: value.join("=") } : { name };
    });
}
