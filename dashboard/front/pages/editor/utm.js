import { lacks } from "../../core/account.js";
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { UTM_KEYS } from "../../core/utm.js";
import { useLoaded } from "../../parts/loaded.js";
import { UtmInputs } from "../../parts/utm_inputs.js";
import { listTemplates } from "../utm/endpoints.js";
import { Section, hasError } from "./inputs.js";
import { finalAddress } from "./model.js";

/** @param {{editing: import("./editing.js").Editing}} properties */
export function Utm({ editing }) {
    const { utm, utmTemplateId } = editing.fields.value;
    const address = finalAddress(editing.fields.value);
    const holds = UTM_KEYS.map(key => utm[key].trim()).filter(Boolean).join(" · ") || t("utm.none");
    const templates = useLoaded(() => (lacks("editor") ? Promise.resolve([]) : listTemplates())).value ?? [];
    const template = templates.find(({ _id }) => _id === utmTemplateId);
    /** @param {string} id */
    const choose = id => {
        const values = templates.find(({ _id }) => _id === id)?.values;
        editing.change({ utmTemplateId: id, utm: { ...utm, ...values } });
    };
    return html`
        <${Section} icon="megaphone" title=${t("section.utm")} holds=${holds} isWrong=${hasError(editing, ["utm", "utmTemplateId"])}>
            ${templates.length > 0 &&
            html`<label>
                ${t("field.utmTemplateId")}
                <select name="utmTemplateId" value=${utmTemplateId} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
                    <option value="">${t("templates.noTemplate")}</option>
                    ${templates.map(({ _id, name }) => html`<option key=${_id} value=${_id}>${name}</option>`)}
                </select>
            </label>`}
            <${UtmInputs}
                utm=${utm}
                allowed=${template?.allowedValues}
                errors=${editing.errors.value}
                onChange=${(/** @type {any} */ changed) => editing.change({ utm: changed })}
            />
            ${address !== null &&
            html`<p class="final"><small>${t("editor.final")}</small> <output name="final" dir="ltr">${address}</output></p>`}
        <//>
    `;
}
