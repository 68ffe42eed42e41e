import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { UTM_KEYS } from "../../core/utm.js";
import { UtmInputs } from "../../parts/utm_inputs.js";
import { TemplateChoice, useTemplates } from "../utm/choice.js";
import { Section, hasError } from "./inputs.js";
import { finalAddress } from "./model.js";

/** @param {{editing: import("./editing.js").Editing}} properties */
export function Utm({ editing }) {
    const { utm, utmTemplateId } = editing.fields.value;
    const address = finalAddress(editing.fields.value);
    const holds = UTM_KEYS.map(key => utm[key].trim()).filter(Boolean).join(" · ") || t("utm.none");
    const templates = useTemplates();
    const template = templates.find(({ _id }) => _id === utmTemplateId);
    return html`
        <${Section} icon="megaphone" title=${t("section.utm")} holds=${holds} isWrong=${hasError(editing, ["utm", "utmTemplateId"])}>
            <${TemplateChoice}
                templates=${templates}
                chosen=${utmTemplateId}
                onChange=${(/** @type {import("../utm/choice.js").UtmTemplate | undefined} */ chosen) =>
                    editing.change({ utmTemplateId: chosen?._id ?? "", utm: { ...utm, ...chosen?.values } })}
            />
            <${UtmInputs}
                utm=${utm}
                template=${template}
                errors=${editing.errors.value}
                onChange=${(/** @type {any} */ changed) => editing.change({ utm: changed })}
            />
            ${address !== null &&
            html`<p class="final"><small>${t("editor.final")}</small> <output name="final" dir="ltr">${address}</output></p>`}
        <//>
    `;
}
