/** Who may follow the link, and how often. */
import { countryName } from "../../core/countries.js";
import { number } from "../../core/format.js";
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Countries } from "./countries.js";
import { Field, Section, Switch, hasError } from "./inputs.js";
import { DEVICES } from "./model.js";

/** @param {{editing: import("./editing.js").Editing}} properties */
export function Limits({ editing }) {
    const { allowedDevices } = editing.fields.value;
    const hasPassword = editing.link.value?.hasPassword ?? false;
    /** @param {string} device */
    const toggle = device => {
        const isAllowed = allowedDevices.includes(device);
        editing.change({
            allowedDevices: isAllowed ? allowedDevices.filter(name => name !== device) : [...allowedDevices, device],
        });
    };
    const counting = { type: "number", min: "1", step: "1" };
    return html`
        <${Section} icon="lock" title=${t("section.limits")} holds=${holds(editing)} isWrong=${hasError(editing, ["password", "restrictions"])}>
            <${Field}
                editing=${editing}
                name="password"
                type="password"
                maxlength="128"
                autocomplete="new-password"
                label=${t("field.password")}
                hint=${hasPassword ? t("hint.password") : undefined}
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
            ${(/** @type {const} */ (["allowedCountries", "blockedCountries"])).map(
                name => html`<${Countries}
                    key=${name}
                    name=${name}
                    label=${t(`field.${name}`)}
                    values=${editing.fields.value[name]}
                    error=${errorOf(editing, `restrictions.${name}`)}
                    onChange=${(/** @type {string[]} */ codes) => editing.change({ [name]: codes })}
                />`,
            )}
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

/** @param {import("./editing.js").Editing} editing */
function holds({ fields, link }) {
    const { password, removesPassword, maxClicks, maxClicksPerVisitor, allowedCountries, blockedCountries, allowedDevices } = fields.value;
    const isLocked = password !== "" || ((link.value?.hasPassword ?? false) && !removesPassword);
    const parts = [
        isLocked && t("state.password"),
        maxClicks && `${t("field.maxClicks")} ${number(Number(maxClicks))}`,
        maxClicksPerVisitor && `${t("field.maxClicksPerVisitor")} ${number(Number(maxClicksPerVisitor))}`,
        allowedCountries.map(countryName).join(", "),
        blockedCountries.length > 0 && t("limits.without", { countries: blockedCountries.map(countryName).join(", ") }),
        allowedDevices.map(device => t(`device.${/** @type {typeof DEVICES[number]} */ (device)}`)).join(", "),
    ];
    return parts.filter(Boolean).join(" · ") || t("limits.none");
}

/**
 * @param {import("./editing.js").Editing} editing
 * @param {string} start of the path of the field
 */
function errorOf(editing, start) {
    return Object.entries(editing.errors.value).find(([path]) => path.startsWith(start))?.[1];
}
