/** Deletes a domain, after a confirmation that explains what happens to its links. */
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Dialog } from "../../parts/dialog.js";
import { Sending } from "../../parts/sending.js";
import { deleteDomain } from "./endpoints.js";
import { load } from "./state.js";

/** @param {{domain: import("./endpoints.js").Domain}} properties */
export function Deletion({ domain }) {
    const isOpen = useSignal(false);
    const sending = useMemo(() => new Sending(), []);
    const isDeleting = sending.isBusy.value;
    const problem = sending.errors.value[""];
    const remove = () =>
        sending.run(async () => {
            await deleteDomain(domain._id);
            isOpen.value = false;
            toast(t("domain.deleted", { domain: domain.fullDomain }));
            await load();
        });
    return html`
        <button class="danger" onClick=${() => (isOpen.value = true)}>${t("domain.delete")}</button>
        <${Dialog} isOpen=${isOpen} title=${t("domain.deleteTitle", { domain: domain.fullDomain })}>
            <p>${t("domain.deleteText")}</p>
            ${problem && html`<p role="alert" class="failure">${problem}</p>`}
            <div class="actions">
                <button class="danger" aria-busy=${isDeleting} disabled=${isDeleting} onClick=${remove}>
                    ${t("domain.deleteNow")}
                </button>
                <button onClick=${() => (isOpen.value = false)}>${t("domain.keep")}</button>
            </div>
        <//>
    `;
}
