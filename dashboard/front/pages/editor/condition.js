/** One condition of a rule. Times and schedules, which only the API can set, are shown in words but not edited. */
import { html } from "../../core/html.js";
import { language, t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { Chips } from "./chips.js";
import { Countries } from "./countries.js";
import { DEVICES } from "./model.js";

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
/** What is offered for a type; other values can be typed. @type {Record<string, readonly string[]>} */
const SUGGESTIONS = {
    os: ["Android", "iOS", "Windows", "macOS", "Linux", "ChromeOS"],
    browser: ["Chrome", "Safari", "Firefox", "Edge", "Opera", "Samsung Internet"],
    language: ["ar", "cs", "da", "de", "en", "es", "fi", "fr", "hi", "it", "ja", "ko", "nl", "pl", "pt", "ru", "sv", "tr", "uk", "zh"],
    referrerHost: ["direct"],
};

/** @returns {ConditionOfRule} */
export const emptyCondition = () => ({ type: "country", values: [], not: false });

/**
 * @param {object} properties
 * @param {string} properties.name
 * @param {ConditionOfRule} properties.condition
 * @param {string} [properties.error]
 * @param {(condition: ConditionOfRule) => void} properties.onChange
 * @param {(() => void) | null} properties.onRemove
 */
export function Condition({ name, condition, error, onChange, onRemove }) {
    const known = TYPES.find(type => type === condition.type);
    return html`
        <div class="condition">
            <select
                aria-label=${t("condition.not")}
                value=${condition.not ? "not" : "is"}
                onChange=${(/** @type {any} */ event) => onChange({ ...condition, not: event.target.value === "not" })}
            >
                <option value="is" selected=${!condition.not}>${t("condition.is")}</option>
                <option value="not" selected=${condition.not}>${t("condition.isNot")}</option>
            </select>
            ${known === undefined
                ? html`<p class="says" dir="auto">${described(condition)}</p>`
                : html`<select
                          name=${`${name}.type`}
                          aria-label=${t("condition.type")}
                          value=${known}
                          onChange=${(/** @type {any} */ event) =>
                              onChange({ type: event.target.value, values: [], not: condition.not })}
                      >
                          ${TYPES.map(type => html`<option key=${type} value=${type} selected=${type === known}>${t(`condition.${type}`)}</option>`)}
                      </select>
                      ${known === "scanned"
                          ? html`<span></span>`
                          : html`<${Values} key=${known} name=${`${name}.values`} type=${known} condition=${condition} error=${error} onChange=${onChange} />`}`}
            ${onRemove
                ? html`<button type="button" class="icon-button md" aria-label=${t("condition.remove")} title=${t("condition.remove")} onClick=${onRemove}>
                      <${Icon} name="x" />
                  </button>`
                : html`<span></span>`}
        </div>
    `;
}

/** @param {{name: string, type: Exclude<typeof TYPES[number], "scanned">, condition: ConditionOfRule, error?: string, onChange: (condition: ConditionOfRule) => void}} properties */
function Values({ name, type, condition, error, onChange }) {
    const shared = {
        name,
        label: `${t(`condition.${type}`)}: ${t("condition.values")}`,
        isLabelled: false,
        required: true,
        error,
        placeholder: t(`condition.example.${type}`),
        values: textsOf(condition),
        onChange: (/** @type {string[]} */ texts) => onChange(/** @type {any} */ ({ ...condition, values: valuesOf(type, texts) })),
    };
    if (type === "country") return html`<${Countries} ...${shared} />`;
    if (type === "device") {
        return html`<${Chips}
            ...${shared}
            suggestions=${DEVICES}
            nameOf=${(/** @type {string} */ value) => deviceName(value)}
            parse=${(/** @type {string} */ text) => DEVICES.find(device => [device, deviceName(device).toLowerCase()].includes(text.toLowerCase())) ?? null}
            problem=${() => t("condition.devices")}
        />`;
    }
    if (type === "language") return html`<${Chips} ...${shared} suggestions=${SUGGESTIONS.language} nameOf=${languageName} />`;
    return html`<${Chips} ...${shared} suggestions=${SUGGESTIONS[type] ?? []} />`;
}

/** @param {string} value */
const deviceName = value => (DEVICES.some(device => device === value) ? t(`device.${/** @type {typeof DEVICES[number]} */ (value)}`) : value);

/** @param {string} code */
function languageName(code) {
    try {
        return `${new Intl.DisplayNames([language], { type: "language" }).of(code)} (${code})`;
    } catch {
        return code;
    }
}

/**
 * The values as texts: those of a query parameter as `name=value`.
 * @param {ConditionOfRule} condition
 * @returns {string[]}
 */
function textsOf({ type, values }) {
    const list = /** @type {any[]} */ (values ?? []);
    if (type !== "query") return list.map(String);
    return list.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`));
}

/**
 * @param {string} type
 * @param {string[]} texts
 */
function valuesOf(type, texts) {
    if (type === "language") return texts.map(text => /\((\S+)\)$/.exec(text)?.[1] ?? text);
    if (type !== "query") return texts;
    return texts.map(text => {
        const [name, ...value] = text.split("=");
        return value.length > 0 ? { name, value: value.join("=") } : { name };
    });
}

/**
 * A condition of time in words, such as "Mon, Tue 09:00–17:00 (Europe/Berlin)".
 * @param {ConditionOfRule} condition
 */
function described({ type, values }) {
    const list = /** @type {any[]} */ (values ?? []);
    if (type !== "schedule") return `${type}: ${JSON.stringify(values)}`;
    const dayName = new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" });
    const names = new Map(["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map((day, at) => [day, dayName.format(Date.UTC(2024, 0, 1 + at))]));
    return list
        .map(({ days = [], from = "00:00", until = "24:00", timezone = "UTC" }) =>
            `${days.map((/** @type {string} */ day) => names.get(day) ?? day).join(", ")} ${from}–${until} (${timezone})`.trim(),
        )
        .join("; ");
}
