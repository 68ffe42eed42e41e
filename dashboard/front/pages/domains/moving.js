/** Moves a domain with its links to another workspace in which the account is an admin, too. */
import { account, mayIn, workspace } from "../../core/account.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { isolated, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Dialog } from "../../parts/dialog.js";
import { Sending } from "../../parts/sending.js";
import { nameOfWorkspace } from "../../parts/workspace_switch.js";
import { moveDomain } from "./endpoints.js";
import { load } from "./state.js";

/** @param {{domain: import("./endpoints.js").Domain}} properties */
export function Moving({ domain }) {
    const isOpen = useSignal(false);
    const chosen = useSignal("");
    const sending = useMemo(() => new Sending(), []);
    const isMoving = sending.isBusy.value;
    const targets = (account.value?.workspaces ?? []).filter(other => other !== workspace.value && mayIn(other, "admin"));
    if (targets.length === 0) return null;
    const target = targets.find(({ _id }) => _id === chosen.value) ?? targets[0];
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        sending.run(async () => {
            const { links } = await moveDomain(domain._id, target._id);
            isOpen.value = false;
            toast(t("domain.moved", { count: links, domain: domain.fullDomain, workspace: isolated(nameOfWorkspace(target)) }));
            await load();
        });
    };
    return html`
        <button type="button" onClick=${() => (isOpen.value = true)}>${t("domain.move")}</button>
        <${Dialog} isOpen=${isOpen} title=${t("domain.moveTitle", { domain: domain.fullDomain })}>
            <form onSubmit=${submit}>
                <p>${t("domain.moveText")}</p>
                <label>
                    ${t("move.target")}
                    <select name="target" onChange=${(/** @type {any} */ event) => (chosen.value = event.target.value)}>
                        ${targets.map(
                            one => html`
                                <option dir="auto" value=${one._id} selected=${one === target}>${nameOfWorkspace(one)}</option>
                            `,
                        )}
                    </select>
                </label>
                ${Object.values(sending.errors.value).map(
                    message => html`<p role="alert" class="failure">${message}</p>`,
                )}
                <div class="actions">
                    <button type="submit" aria-busy=${isMoving} disabled=${isMoving}>${t("domain.moveNow")}</button>
                    <button type="button" onClick=${() => (isOpen.value = false)}>${t("confirmation.cancel")}</button>
                </div>
            </form>
        <//>
    `;
}
