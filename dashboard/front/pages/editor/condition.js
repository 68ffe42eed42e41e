/** One condition of a rule: its type, and its values as chips, days or hours. */
import { html } from "../../core/html.js";
import { language, t } from "../../core/texts.js";
import { Chips } from "../../parts/chips.js";
import { Icon } from "../../parts/icon.js";
import { MomentInput } from "../../parts/moment_input.js";
import { Countries } from "./countries.js";
import { DEVICES } from "./model.js";
import { WeekGrid } from "./week_grid.js";

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
const TYPES = /** @type {const} */ ([...WITH_WORDS, "query", "time", "schedule", "scanned"]);
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
                ? html`<p class="says" dir="auto">${condition.type}: ${JSON.stringify(condition.values)}</p>`
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
    if (type === "schedule") {
        const schedules = /** @type {import("./week.js").Schedule[]} */ (condition.values ?? []);
        return html`<${WeekGrid} name=${name} schedules=${schedules} error=${error} onChange=${(/** @type {any[]} */ values) => onChange({ ...condition, values })} />`;
    }
    if (type === "time") return html`<${Period} name=${name} condition=${condition} error=${error} onChange=${onChange} />`;
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

/**
 * From one moment to another. Either may be empty.
 * @param {{name: string, condition: ConditionOfRule, error?: string, onChange: (condition: ConditionOfRule) => void}} properties
 */
function Period({ name, condition, error, onChange }) {
    const [period = {}] = /** @type {{from?: string, until?: string}[]} */ (condition.values ?? []);
    /** @param {"from" | "until"} edge @param {string} moment */
    const set = (edge, moment) => {
        const { [edge]: _, ...rest } = period;
        const changed = moment === "" ? rest : { ...rest, [edge]: moment };
        onChange(/** @type {any} */ ({ ...condition, values: Object.keys(changed).length > 0 ? [changed] : [] }));
    };
    return html`
        <div class="group">
            ${(/** @type {const} */ (["from", "until"])).map(
                edge => html`<${MomentInput}
                    key=${edge}
                    name=${`${name}.${edge}`}
                    label=${t(`condition.time.${edge}`)}
                    zoneLabel=${t(edge === "from" ? "times.zoneOfFrom" : "times.zoneOfUntil")}
                    value=${period[edge] ?? ""}
                    onValue=${(/** @type {string} */ moment) => set(edge, moment)}
                />`,
            )}
            ${error && html`<small class="error" role="alert">${error}</small>`}
        </div>
    `;
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
