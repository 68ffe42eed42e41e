/** The workspace of this page, the others of the account, and the way to a new one. */
import { account, workspace } from "../core/account.js";
import { html } from "../core/html.js";
import { navigate } from "../core/router.js";
import { t } from "../core/texts.js";
import { chooseWorkspace, workspaceId } from "../core/workspace.js";

/** @typedef {import("../core/account.js").Workspace} Workspace */

/** @param {Workspace} workspace */
export const nameOfWorkspace = ({ name, isPersonal }) => (isPersonal ? t("workspaces.personal") : name);

const NEW = "new";

/**
 * The browser may keep this page: the user stays because an import runs, or comes back later. So the choice shows the
 * workspace in which the page acts, until another page replaces it.
 * @param {any} event
 */
function choose({ target }) {
    const { value } = target;
    target.value = workspaceId ?? "";
    if (value === NEW) navigate("/dashboard/workspaces");
    else chooseWorkspace(value || null);
}

/** @param {{name?: string}} properties */
export function WorkspaceSwitch({ name = "workspace" }) {
    const workspaces = account.value?.workspaces ?? [];
    if (workspaces.length === 0) return null;
    return html`
        <label>
            <span class="visually-hidden">${t("workspaces.current")}</span>
            <select name=${name} onChange=${choose}>
                ${workspace.value === undefined &&
                html`<option value=${workspaceId} selected disabled>${t("workspaces.unknown")}</option>`}
                ${workspaces.map(
                    one => html`
                        <option dir="auto" value=${one.isPersonal ? "" : one._id} selected=${one === workspace.value}>
                            ${nameOfWorkspace(one)}
                        </option>
                    `,
                )}
                <option value=${NEW}>${t("workspaces.new")} …</option>
            </select>
        </label>
    `;
}

/** The account has never been a member of the workspace in the address, has left it, or was removed. */
export function LostWorkspace() {
    if (workspaceId === null || account.value === null || workspace.value !== undefined) return null;
    return html`
        <article class="banner" data-state="no-member">
            <p>${t("workspaces.lost")}</p>
            <button onClick=${() => chooseWorkspace(null)}>${t("workspaces.toPersonal")}</button>
        </article>
    `;
}
