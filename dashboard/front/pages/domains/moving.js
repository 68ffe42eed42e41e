/** Moves a domain with its links to another workspace in which the account is an admin, too. */
import { html, useMemo, useSignal } from "../../core/html.js";
import { isolated, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Dialog } from "../../parts/dialog.js";
import { MoveForm, workspacesToMoveTo } from "../../parts/move_form.js";
import { Sending } from "../../parts/sending.js";
import { nameOfWorkspace } from "../../parts/workspace_switch.js";
import { moveDomain } from "./endpoints.js";
import { load } from "./state.js";

/** @param {{domain: import("./endpoints.js").Domain}} properties */
export function Moving({ domain }) {
    const isOpen = useSignal(false);
    const chosen = useSignal("");
    const sending = useMemo(() => new Sending(), []);
    const targets = workspacesToMoveTo("admin");
    if (targets.length === 0) return null;
    /** @param {import("../../core/account.js").Workspace} target */
    const move = target =>
        sending.run(async () => {
            const { links } = await moveDomain(domain._id, target._id);
            isOpen.value = false;
            toast(t("domain.moved", { count: links, domain: domain.fullDomain, workspace: isolated(nameOfWorkspace(target)) }));
            await load();
        });
    return html`
        <button type="button" onClick=${() => (isOpen.value = true)}>${t("domain.move")}</button>
        <${Dialog} isOpen=${isOpen} title=${t("domain.moveTitle", { domain: domain.fullDomain })}>
            <${MoveForm}
                text=${t("domain.moveText")}
                label=${t("domain.moveNow")}
                targets=${targets}
                chosen=${chosen}
                sending=${sending}
                onMove=${move}
                onCancel=${() => (isOpen.value = false)}
            />
        <//>
    `;
}
