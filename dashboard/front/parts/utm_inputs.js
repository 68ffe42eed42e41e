/** The inputs of the campaign's parameters. */
import { html } from "../core/html.js";
import { language, t } from "../core/texts.js";
import { UTM_KEYS } from "../core/utm.js";
import { About } from "./about.js";

/** @typedef {import("../core/utm.js").UtmKey} UtmKey */
/** @typedef {{name: string, allowedValues: {[key in UtmKey]?: string[]}}} Template */

/**
 * Why a template refuses a value of this parameter.
 * @param {Template} template
 * @param {UtmKey} key
 */
export const refusalText = ({ name, allowedValues }, key) =>
    t("templates.refused", { name, values: new Intl.ListFormat(language).format(allowedValues[key] ?? []) });

/**
 * @param {object} properties
 * @param {Readonly<Record<string, string>>} properties.utm
 * @param {Template} [properties.template]
 * @param {Readonly<Record<string, string>>} [properties.errors] of the API, by field
 * @param {(utm: Record<string, string>) => void} properties.onChange
 */
export const UtmInputs = ({ utm, template, errors = {}, onChange }) => html`
    <div class="grid">
        ${UTM_KEYS.map(key => {
            const allowed = template?.allowedValues[key];
            const message = errors[`utm.${key}`];
            const isForeign = template && allowed && !allowed.includes((utm[key] ?? "").trim());
            const error = message && isForeign ? refusalText(template, key) : message;
            return html`
                <div key=${key} class="field">
                    <label>
                        ${t(`utm.${key}`)}
                        <input
                            name=${`utm_${key}`}
                            maxlength="200"
                            dir="auto"
                            list=${allowed ? `utm-${key}-list` : undefined}
                            value=${utm[key] ?? ""}
                            aria-invalid=${error ? "true" : undefined}
                            aria-describedby=${error || allowed ? `utm-${key}-about` : undefined}
                            onInput=${(/** @type {any} */ event) => onChange({ ...utm, [key]: event.target.value })}
                        />
                    </label>
                    ${allowed &&
                    html`<datalist id=${`utm-${key}-list`}>${allowed.map(value => html`<option key=${value} value=${value} />`)}</datalist>`}
                    <${About} id=${`utm-${key}-about`} error=${error} hint=${allowed && t("templates.only", { values: allowed.join(", ") })} />
                </div>
            `;
        })}
    </div>
`;
