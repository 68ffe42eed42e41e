import { countries, countryName } from "../../core/countries.js";
import { html, useMemo } from "../../core/html.js";
import { t } from "../../core/texts.js";

const byName = () => [...countries].sort((one, other) => countryName(one).localeCompare(countryName(other)));

/**
 * Chosen countries, each with a button that removes it, and a list of the others.
 * @param {object} properties
 * @param {import("./editing.js").Editing} properties.editing
 * @param {"allowedCountries" | "blockedCountries"} properties.name
 * @param {string} properties.label
 */
export function Countries({ editing, name, label }) {
    const chosen = editing.fields.value[name];
    const others = useMemo(byName, []).filter(code => !chosen.includes(code));
    return html`
        <label>
            ${label}
            <select
                name=${name}
                value=""
                onChange=${(/** @type {any} */ event) => {
                    if (event.target.value) editing.change({ [name]: [...chosen, event.target.value] });
                    event.target.value = "";
                }}
            >
                <option value="">${t("countries.add")}</option>
                ${others.map(code => html`<option key=${code} value=${code}>${countryName(code)}</option>`)}
            </select>
        </label>
        <p class="tags">
            ${chosen.map(
                code => html`
                    <button
                        key=${code}
                        type="button"
                        class="tag"
                        aria-label=${t("countries.remove", { country: countryName(code) })}
                        onClick=${() => editing.change({ [name]: chosen.filter(other => other !== code) })}
                    >
                        ${countryName(code)} ×
                    </button>
                `,
            )}
        </p>
    `;
}
