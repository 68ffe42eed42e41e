import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Section, hasError } from "./inputs.js";
import { UTM_KEYS, finalAddress } from "./model.js";

/** @param {{editing: import("./editing.js").Editing}} properties */
export function Utm({ editing }) {
    const { utm } = editing.fields.value;
    const address = finalAddress(editing.fields.value);
    const holds = UTM_KEYS.map(key => utm[key].trim()).filter(Boolean).join(" · ") || t("utm.none");
    return html`
        <${Section} icon="megaphone" title=${t("section.utm")} holds=${holds} isWrong=${hasError(editing, ["utm"])}>
            <div class="grid">
                ${UTM_KEYS.map(
                    key => html`
                        <label key=${key}>
                            ${t(`utm.${key}`)}
                            <input
                                name=${`utm_${key}`}
                                maxlength="200"
                                value=${utm[key]}
                                onInput=${(/** @type {any} */ event) =>
                                    editing.change({ utm: { ...utm, [key]: event.target.value } })}
                            />
                        </label>
                    `,
                )}
            </div>
            ${address !== null &&
            html`<p class="final"><small>${t("editor.final")}</small> <output name="final" dir="ltr">${address}</output></p>`}
        <//>
    `;
}
