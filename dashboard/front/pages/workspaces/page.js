/** The workspaces of the account. */
import { account, accountFailure, loadAccount, reloadAccount } from "../../core/account.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { navigate } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { chooseWorkspace, workspaceId } from "../../core/workspace.js";
import { Input, Submit } from "../../parts/input.js";
import { Pending } from "../../parts/loaded.js";
import { Sending } from "../../parts/sending.js";
import { nameOfWorkspace } from "../../parts/workspace_switch.js";
import { AccountHeading } from "../account/sections.js";
import { createWorkspace } from "./endpoints.js";

/** @typedef {import("../../core/account.js").Workspace} Workspace */

export function Page() {
    const workspaces = account.value?.workspaces;
    return html`
        <${AccountHeading} title=${t("workspaces.title")} />
        <div class="body">
        <p>${t("workspaces.text")}</p>
        <${Pending} of=${{ value: account.value, failure: accountFailure.value, refresh: reloadAccount }} />
        <ul class="cards">
            ${workspaces?.map(workspace => html`<${Row} key=${workspace._id} workspace=${workspace} />`)}
        </ul>
        <${Creation} />
        </div>
    `;
}

/** @param {{workspace: Workspace}} properties */
function Row({ workspace }) {
    const { _id, isPersonal, role } = workspace;
    const name = nameOfWorkspace(workspace);
    const isHere = isPersonal ? workspaceId === null : workspaceId === _id;
    const choose = () => chooseWorkspace(isPersonal ? null : _id);
    return html`
        <li data-workspace=${_id}>
            <div>
                <strong dir="auto">${name}</strong>
                ${isHere && html` <span class="state">${t("workspaces.here")}</span>`}
                <small>${t(`role.${role}`)}</small>
            </div>
            ${!isHere &&
            html`<button type="button"  aria-label=${t("workspaces.switchTo", { name })} onClick=${choose}>
                ${t("workspaces.switch")}
            </button>`}
            <a href=${`/dashboard/workspaces/${_id}`} aria-label=${t(isPersonal ? "workspaces.settingsOf" : "workspaces.manageOne", { name })}>
                ${t(isPersonal ? "nav.settings" : "workspaces.manage")}
            </a>
        </li>
    `;
}

function Creation() {
    const name = useSignal("");
    const sending = useMemo(() => new Sending(), []);
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        return sending.run(async () => {
            const created = await createWorkspace(name.value, sending.idempotencyKey);
            await loadAccount();
            toast(t("workspaces.created"));
            navigate(`/dashboard/workspaces/${created._id}`);
        });
    };
    return html`
        <section aria-labelledby="new-workspace">
            <h2 id="new-workspace">${t("workspaces.new")}</h2>
            <form class="narrow" onSubmit=${submit}>
                <${Input}
                    sending=${sending}
                    name="name"
                    label=${t("workspaces.name")}
                    value=${name}
                    required
                    maxlength="100"
                    dir="auto"
                    autocomplete="off"
                />
                <${Submit} sending=${sending} fields=${["name"]} label=${t("workspaces.create")} />
            </form>
        </section>
    `;
}
