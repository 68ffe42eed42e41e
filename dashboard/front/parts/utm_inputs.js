/** The inputs of the campaign's parameters. */
import { html } from "../core/html.js";
import { t } from "../core/texts.js";
import { UTM_KEYS } from "../core/utm.js";

/**
 * @param {object} properties
 * @param {Readonly<Record<string, string>>} properties.utm
 * @param {(utm: Record<string, string>) => void} properties.onChange
 */
export const UtmInputs = ({ utm, onChange }) => html`
    <div class="grid">
        ${UTM_KEYS.map(
            key => html`
                <label key=${key}>
                    ${t(`utm.${key}`)}
                    <input
                        name=${`utm_${key}`}
                        maxlength="200"
                        dir="auto"
                        value=${utm[key] ?? ""}
                        onInput=${(/** @type {any} */ event) => onChange({ ...utm, [key]: event.target.value })}
                    />
                </label>
            `,
        )}
    </div>
`;
