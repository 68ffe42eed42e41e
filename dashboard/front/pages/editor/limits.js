/** Who may follow the link, and how often. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Countries } from "./countries.js";
import { Field, Section, Switch } from "./inputs.js";
import { DEVICES } from "./model.js";

/** @param {{editing: import("./editing.js").Editing}} properties */
export function Limits({ editing }) {
    const fields = editing.fields.value;
    const { maxClicks, maxClicksPerVisitor, allowedCountries, blockedCountries, allowedDevices } = fields;
    const hasPassword = editing.link.value?.hasPassword ?? false;
    const isOpen =
        Boolean(maxClicks || maxClicksPerVisitor || fields.password || hasPassword) ||
        [...allowedCountries, ...blockedCountries, ...allowedDevices].length > 0;
    /** @param {string} device */
    const toggle = device => {
        const isAllowed = allowedDevices.includes(device);
        editing.change({
            allowedDevices: isAllowed ? allowedDevices.filter(name => name !== device) : [...allowedDevices, device],
        });
    };
    const counting = { type: "number", min: "1", step: "1" };
    return html`
        <${Section} title=${t("section.limits")} isOpen=${isOpen}>
            <${Field}
                editing=${editing}
                name="password"
                type="password"
                maxlength="128"
                autocomplete="new-password"
                label=${t(hasPassword ? "field.newPassword" : "field.password")}
            />
            ${hasPassword && html`<${Switch} editing=${editing} name="removesPassword" label=${t("field.removesPassword")} />`}
            <div class="grid">
                <${Field} editing=${editing} name="maxClicks" path="restrictions.maxClicks" label=${t("field.maxClicks")} ...${counting} />
                <${Field}
                    editing=${editing}
                    name="maxClicksPerVisitor"
                    path="restrictions.maxClicksPerVisitor"
                    label=${t("field.maxClicksPerVisitor")}
                    ...${counting}
                />
            </div>
            <${Countries} editing=${editing} name="allowedCountries" label=${t("field.allowedCountries")} />
            <${Countries} editing=${editing} name="blockedCountries" label=${t("field.blockedCountries")} />
            <fieldset>
                <legend>${t("field.allowedDevices")}</legend>
                ${DEVICES.map(
                    device => html`
                        <label key=${device}>
                            <input type="checkbox" checked=${allowedDevices.includes(device)} onChange=${() => toggle(device)} />
                            ${t(`device.${device}`)}
                        </label>
                    `,
                )}
            </fieldset>
        <//>
    `;
}
