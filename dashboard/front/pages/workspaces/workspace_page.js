/** One workspace: its name, members and invitations. */
import { ROLES, loadAccount } from "../../core/account.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { navigate } from "../../core/router.js";
import { HEALTH_CHECKS } from "../../core/status.js";
import { isolated, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { chooseWorkspace, workspaceId } from "../../core/workspace.js";
import { Confirmation } from "../../parts/confirmation.js";
import { Input, Submit } from "../../parts/input.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { Sending } from "../../parts/sending.js";
import { nameOfWorkspace } from "../../parts/workspace_switch.js";
import { AccountHeading } from "../account/sections.js";
import { checkDestinations, deleteWorkspace, readWorkspace, renameWorkspace } from "./endpoints.js";
import { Invitations } from "./invitations.js";
import { Members } from "./members.js";

/** @typedef {import("./endpoints.js").Workspace} Workspace */

/** @param {{id: string}} properties */
export function Page({ id }) {
    const loaded = useLoaded(() => readWorkspace(id), [id]);
    const workspace = loaded.value;
    if (workspace === null) {
        return html`<${AccountHeading} title=${t("workspaces.current")} /><div class="body"><${Pending} of=${loaded} /></div>`;
    }
    const rank = ROLES.indexOf(workspace.role);
    const isAdmin = rank >= ROLES.indexOf("admin");
    return html`
        <${AccountHeading} title=${nameOfWorkspace(workspace)} />
        <div class="body">
        ${workspace.isPersonal
            ? html`<p>${t("workspaces.private")}</p>`
            : html`
                  ${workspaceId !== id &&
                  html`<p><button type="button" onClick=${() => chooseWorkspace(id)}>${t("workspaces.switchTo", { name: isolated(workspace.name) })}</button></p>`}
                  <${Members} workspace=${workspace} onLeave=${() => leave(id)} />
                  ${isAdmin && html`<${Invitations} workspace=${workspace} />`}
                  ${isAdmin && html`<${Naming} workspace=${workspace} onRename=${loaded.refresh} />`}
              `}
        ${isAdmin && html`<${Checks} workspace=${workspace} onChange=${loaded.refresh} />`}
        ${!workspace.isPersonal && workspace.role === "owner" && html`<${Deletion} workspace=${workspace} />`}
        </div>
    `;
}

/**
 * For an account that is no longer a member.
 * @param {string} id
 */
function leave(id) {
    if (workspaceId === id) chooseWorkspace(null);
    else navigate("/dashboard/workspaces");
}

/** @param {{workspace: Workspace, onRename: () => Promise<void>}} properties */
function Naming({ workspace, onRename }) {
    const name = useSignal(workspace.name);
    const sending = useMemo(() => new Sending(), []);
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        return sending.run(async () => {
            await renameWorkspace(workspace._id, name.value);
            toast(t("workspaces.renamed"));
            await Promise.all([onRename(), loadAccount()]);
        });
    };
    const attributes = { required: true, maxlength: "100", dir: "auto", autocomplete: "off" };
    return html`
        <section aria-labelledby="naming">
            <h2 id="naming">${t("workspaces.rename")}</h2>
            <form class="narrow" onSubmit=${submit}>
                <${Input} sending=${sending} name="name" label=${t("workspaces.name")} value=${name} ...${attributes} />
                <${Submit} sending=${sending} fields=${["name"]} label=${t("workspaces.rename")} />
            </form>
        </section>
    `;
}

/** How often destinations are checked of links that do not say it. @param {{workspace: Workspace, onChange: () => Promise<void>}} properties */
function Checks({ workspace: { _id, healthCheck }, onChange }) {
    const sending = useMemo(() => new Sending(), []);
    const frequency = useSignal(healthCheck);
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        return sending.run(async () => {
            await checkDestinations(_id, frequency.value);
            toast(t("workspaces.saved"));
            await onChange();
        });
    };
    return html`
        <section aria-labelledby="checks">
            <h2 id="checks">${t("workspaces.checks")}</h2>
            <form class="narrow" onSubmit=${submit}>
                <label>
                    ${t("field.healthCheck")}
                    <select name="healthCheck" onChange=${(/** @type {any} */ event) => (frequency.value = event.target.value)}>
                        ${HEALTH_CHECKS.map(one => html`<option key=${one} value=${one} selected=${one === frequency.value}>${t(`healthCheck.${one}`)}</option>`)}
                    </select>
                    <small>${t("workspaces.checksHint")}</small>
                </label>
                <${Submit} sending=${sending} label=${t("account.save")} />
            </form>
        </section>
    `;
}

/** @param {{workspace: Workspace}} properties */
function Deletion({ workspace: { _id, name } }) {
    const remove = async () => {
        await deleteWorkspace(_id);
        toast(t("workspaces.deleted"));
        await loadAccount();
        leave(_id);
    };
    return html`
        <section aria-labelledby="deletion">
            <h2 id="deletion">${t("workspaces.delete")}</h2>
            <${Confirmation}
                label=${t("workspaces.delete")}
                question=${t("workspaces.deleteQuestion", { name: isolated(name) })}
                action=${remove}
            />
        </section>
    `;
}
