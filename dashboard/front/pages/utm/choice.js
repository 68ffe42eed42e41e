/** The choice of a UTM template for new links, and what it refuses. */
import { lacks } from "../../core/account.js";
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { UTM_KEYS } from "../../core/utm.js";
import { useLoaded } from "../../parts/loaded.js";
import { refusalText } from "../../parts/utm_inputs.js";
import { listTemplates } from "./endpoints.js";

/** @typedef {import("./endpoints.js").UtmTemplate} UtmTemplate */

/** The templates of the workspace; none until they are loaded, and none for viewers, who make no link. */
export const useTemplates = () => useLoaded(() => (lacks("editor") ? Promise.resolve([]) : listTemplates())).value ?? [];

/**
 * Nothing if there are no templates.
 * @param {{templates: UtmTemplate[], chosen: string, onChange: (template: UtmTemplate | undefined) => void}} properties
 */
export const TemplateChoice = ({ templates, chosen, onChange }) =>
    templates.length > 0 &&
    html`<label>
        ${t("field.utmTemplateId")}
        <select
            name="utmTemplateId"
            value=${chosen}
            onChange=${(/** @type {any} */ event) => onChange(templates.find(({ _id }) => _id === event.target.value))}
        >
            <option value="">${t("templates.noTemplate")}</option>
            ${templates.map(({ _id, name }) => html`<option key=${_id} value=${_id}>${name}</option>`)}
        </select>
    </label>`;

/**
 * What the API refused, with the values that the template allows.
 * @param {UtmTemplate | undefined} template
 * @param {{field: string, code: string, message: string}} error in the language of the page
 */
export function refusalOf(template, { field, code, message }) {
    const key = UTM_KEYS.find(name => field === `utm.${name}`);
    return template !== undefined && key !== undefined && code === "not_allowed" ? refusalText(template, key) : message;
}
