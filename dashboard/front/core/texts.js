/** The texts of the chosen language. A file of `texts/` is a language; the server lists them in the page. */

/** @typedef {typeof import("../texts/en.js").texts} Texts */
/** @typedef {keyof Texts} Key */
/** The forms of a text by `Intl.PluralRules`: English has two of them, other languages up to six. @typedef {{[rule: string]: string, other: string}} Forms */

const CHOICE = "dashboard.language";
const page = document.documentElement;

export const languages = (page.dataset.languages ?? "en").split(",");
/** The language of the page, set by `loadTexts`. */
export let language = "en";
/** @type {Record<string, string | Forms>} */
let texts = {};
/** @type {Record<string, string>} */
let refusals = {};
/** @type {Record<string, string>} */
let steps = {};
let plurals = new Intl.PluralRules("en");

export async function loadTexts() {
    const chosen = stored();
    language = chosen && languages.includes(chosen) ? chosen : page.lang;
    const loaded = await import(`../texts/${language}.js`);
    texts = loaded.texts;
    refusals = loaded.refusals ?? {};
    steps = loaded.steps ?? {};
    plurals = new Intl.PluralRules(language);
    page.lang = language;
    page.dir = loaded.direction;
}

/** The operator's name of the service, or what it is called without one. */
export const serviceName = () => page.dataset.brandName ?? t("service.name");

/** @param {string} name */
export function chooseLanguage(name) {
    localStorage.setItem(CHOICE, name);
    location.reload();
}

/**
 * The text of a key, with each `{name}` replaced. A text with plural forms chooses by `count`.
 * @param {Key} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
    const text = texts[key];
    const form = typeof text === "string" ? text : (text[plurals.select(Number(values.count))] ?? text.other);
    return form.replace(/\{(\w+)\}/g, (placeholder, name) => {
        const value = values[name] ?? placeholder;
        return typeof value === "number" ? value.toLocaleString(language) : value;
    });
}

/**
 * A name inside a sentence, whose direction it must not change: as `<bdi>`, for texts without markup.
 * @param {string} name
 */
export const isolated = name => `\u2068${name}\u2069`;

/**
 * The text of a key that depends on a value of the API, which may be newer than this page.
 * @param {string} key
 * @param {string} fallback
 */
export const textOr = (key, fallback) => (key in texts ? t(/** @type {Key} */ (key)) : fallback);

/**
 * An error message of the API in the language of the page. Without a text for the code, it is the API's own message,
 * in English. A code can have a separate text for a field, or for the reason in the data of the error.
 * @param {{code?: string, message?: string, field?: string}} refusal
 * @param {Record<string, any> | null} [data] of the error
 */
export function refusalText({ code = "", message = "", field = "" }, data = null) {
    const name = field.split(".").findLast(part => !/^\d+$/.test(part));
    const explained = refusals[`${code}.${data?.reason}`];
    if (explained !== undefined) return explained.replace(/\{(\w+)\}/g, (_, key) => valueText(data?.[key]));
    const text = refusals[`${code}.${name}`] ?? refusals[code];
    const [limit] = /\d+/.exec(message) ?? [];
    if (typeof text !== "string" || (text.includes("{number}") && limit === undefined)) return message;
    return text.replace("{number}", Number(limit).toLocaleString(language));
}

/** A number or a day of the API. @param {number | string} value */
export const valueText = value =>
    typeof value === "number" ? value.toLocaleString(language) : new Date(value).toLocaleDateString(language, { dateStyle: "medium", timeZone: "UTC" });

/**
 * A step of a simulated visit in the language of the page. Without a text for it, it is the API's own sentence, in
 * English.
 * @param {{check: string, passed: boolean, detail: string}} step
 * @param {{reason: string | null, rule: string | null, variant: string | null, counted: boolean}} outcome
 */
export function stepText({ check, passed, detail }, { reason, rule, variant, counted }) {
    const refusal = steps[`${check}.${reason}`] ?? steps[`${check}.refused`];
    const applies = { rule: rule !== null, split: variant !== null, answer: counted }[check] ?? false;
    return (passed ? steps[applies ? `${check}.applies` : check] : refusal) ?? detail;
}

function stored() {
    try {
        return localStorage.getItem(CHOICE);
    } catch {
        // Browsers can be set to refuse all storage.
        return null;
    }
}
