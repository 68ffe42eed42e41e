/** The inputs of the campaign's parameters. */
import { html } from "../core/html.js";
import { t } from "../core/texts.js";
import { UTM_KEYS } from "../core/utm.js";

/**
 * @param {object} properties
 * @param {Readonly<Record<string, string>>} properties.utm
 * @param {Readonly<Record<string, string[] | undefined>>} [properties.allowed] the values that a template allows
 * @param {Readonly<Record<string, string>>} [properties.errors] of the API, by field
 * @param {(utm: Record<string, string>) => void} properties.onChange
 */
export const UtmInputs = ({ utm, allowed = {}, errors = {}, onChange }) => html`
    <div class="grid">
        ${UTM_KEYS.map(
            key => html`
                <div key=${key} class="field">
                    <label>
                        ${t(`utm.${key}`)}
                        <input
                            name=${`utm_${key}`}
                            maxlength="200"
                            dir="auto"
                            list=${allowed[key] ? `utm-${key}-list` : undefined}
                            value=${utm[key] ?? ""}
                            aria-invalid=${errors[`utm.${key}`] ? "true" : undefined}
                            aria-describedby=${errors[`utm.${key}`] ? `utm-${key}-about` : undefined}
                            onInput=${(/** @type {any} */ event) => onChange({ ...utm, [key]: event.target.value })}
                        />
                    </label>
                    ${allowed[key] && !errors[`utm.${key}`] && html`<small>${t("templates.only", { values: allowed[key].join(", ") })}</small>`}
                    ${allowed[key] &&
                    html`<datalist id=${`utm-${key}-list`}>${allowed[key].map(value => html`<option key=${value} value=${value} />`)}</datalist>`}
                    ${errors[`utm.${key}`] && html`<small id=${`utm-${key}-about`} class="error" role="alert">${errors[`utm.${key}`]}</small>`}
                </div>
            `,
        )}
    </div>
`;
