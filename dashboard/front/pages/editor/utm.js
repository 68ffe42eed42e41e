import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Section } from "./inputs.js";
import { UTM_KEYS } from "./model.js";

/** @param {{editing: import("./editing.js").Editing}} properties */
export function Utm({ editing }) {
    const { utm } = editing.fields.value;
    return html`
        <${Section} title=${t("section.utm")} isOpen=${UTM_KEYS.some(key => utm[key] !== "")}>
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
        <//>
    `;
}
