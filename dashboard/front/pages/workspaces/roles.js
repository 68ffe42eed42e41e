/** The choices of a role, and what each role may do. */
import { html } from "../../core/html.js";
import { ROLES } from "../../core/account.js";
import { t } from "../../core/texts.js";

/** @typedef {import("./endpoints.js").Role} Role */

/**
 * Only owners decide who is an owner. The choice shows another role once `value` has changed.
 * @param {object} properties
 * @param {string} properties.label
 * @param {Role} properties.value
 * @param {Role} properties.own the role of the account that chooses
 * @param {(role: Role) => void} properties.onChoose
 */
export function RoleChoice({ label, value, own, onChoose }) {
    const roles = ROLES.filter(role => role !== "owner" || own === "owner" || value === "owner");
    const choose = (/** @type {any} */ event) => {
        const chosen = event.target.value;
        event.target.value = value;
        onChoose(chosen);
    };
    return html`
        <select aria-label=${label} onChange=${choose}>
            ${roles.map(
                role => html`<option key=${role} value=${role} selected=${role === value}>${t(`role.${role}`)}</option>`,
            )}
        </select>
    `;
}

/**
 * The choice of a role for somebody who does not know the roles.
 * @param {{value: import("../../core/html.js").Signal<Role>, own: Role}} properties
 */
export const RoleCards = ({ value, own }) => html`
    <fieldset>
        <legend>${t("members.role")}</legend>
        <div class="roles">
            ${ROLES.filter(role => role !== "owner" || own === "owner").map(
                role => html`
                    <label key=${role}>
                        <input
                            type="radio"
                            name="role"
                            value=${role}
                            checked=${role === value.value}
                            onChange=${() => (value.value = role)}
                        />
                        <span><b>${t(`role.${role}`)}</b><small>${t(`role.${role}May`)}</small></span>
                    </label>
                `,
            )}
        </div>
    </fieldset>
`;

export const RoleList = () => html`
    <details>
        <summary>${t("role.explained")}</summary>
        <dl class="fields">
            ${ROLES.map(
                role => html`
                    <dt>${t(`role.${role}`)}</dt>
                    <dd>${t(`role.${role}May`)}</dd>
                `,
            )}
        </dl>
    </details>
`;
