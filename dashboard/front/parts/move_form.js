/** The form of a dialog that moves something to another workspace. */
import { account, mayIn, workspace } from "../core/account.js";
import { html } from "../core/html.js";
import { t } from "../core/texts.js";
import { nameOfWorkspace } from "./workspace_switch.js";

/** @typedef {import("../core/account.js").Workspace} Workspace */

/**
 * The other workspaces in which the account has the role.
 * @param {import("../core/account.js").Role} role
 */
export const workspacesToMoveTo = role =>
    (account.value?.workspaces ?? []).filter(other => other !== workspace.value && mayIn(other, role));

/**
 * @param {object} properties
 * @param {string} properties.text
 * @param {string} properties.label of the button that moves
 * @param {Workspace[]} properties.targets at least one
 * @param {import("../core/html.js").Signal<string>} properties.chosen the id of the chosen one; the first if it is none of them
 * @param {import("./sending.js").Sending} properties.sending
 * @param {(target: Workspace) => void} properties.onMove
 * @param {() => void} properties.onCancel
 */
export function MoveForm({ text, label, targets, chosen, sending, onMove, onCancel }) {
    const target = targets.find(({ _id }) => _id === chosen.value) ?? targets[0];
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        onMove(target);
    };
    return html`
        <form onSubmit=${submit}>
            <p>${text}</p>
            <label>
                ${t("move.target")}
                <select name="target" onChange=${(/** @type {any} */ event) => (chosen.value = event.target.value)}>
                    ${targets.map(
                        one => html`<option dir="auto" value=${one._id} selected=${one === target}>${nameOfWorkspace(one)}</option>`,
                    )}
                </select>
            </label>
            ${Object.values(sending.errors.value).map(message => html`<p role="alert" class="failure">${message}</p>`)}
            <div class="actions">
                <button type="submit" aria-busy=${sending.isBusy.value} disabled=${sending.isBusy.value}>${label}</button>
                <button type="button" onClick=${onCancel}>${t("confirmation.cancel")}</button>
            </div>
        </form>
    `;
}
