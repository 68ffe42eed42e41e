/** Which reports of the current workspace its member gets by mail. */
import { workspace } from "../../core/account.js";
import { report } from "../../core/failures.js";
import { html, useSignal } from "../../core/html.js";
import { isolated, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { nameOfWorkspace } from "../../parts/workspace_switch.js";
import { chooseReportMails, readReportMails } from "./endpoints.js";

const KINDS = /** @type {const} */ (["weekly", "monthly", "alerts"]);

export function ReportMails() {
    const loaded = useLoaded(readReportMails, [workspace.value?._id]);
    // The choices that are being saved.
    const saving = useSignal(/** @type {Partial<Record<typeof KINDS[number], boolean>>} */ ({}));
    const chosen = loaded.value;
    /**
     * @param {typeof KINDS[number]} kind
     * @param {HTMLInputElement} box
     */
    const change = async (kind, box) => {
        saving.value = { ...saving.value, [kind]: box.checked };
        try {
            await chooseReportMails({ [kind]: box.checked });
            toast(t("reportMails.saved"));
        } catch (error) {
            report(error);
        }
        await loaded.refresh();
        saving.value = {};
    };
    const name = workspace.value === undefined ? "" : nameOfWorkspace(workspace.value);
    return html`
        <section aria-labelledby="report-mails">
            <h2 id="report-mails">${t("reportMails.title")}</h2>
            ${chosen === null && html`<${Pending} of=${loaded} />`}
            ${chosen !== null &&
            html`
                <p>${t(chosen.isAvailable ? "reportMails.text" : "reportMails.off", { name: isolated(name) })}</p>
                ${KINDS.map(
                    kind => html`
                        <label key=${kind}>
                            <input
                                type="checkbox"
                                name=${kind}
                                checked=${saving.value[kind] ?? chosen[kind]}
                                disabled=${!chosen.isAvailable && !chosen[kind]}
                                onChange=${(/** @type {any} */ event) => change(kind, event.target)}
                            />
                            ${t(`reportMails.${kind}`)}
                        </label>
                    `,
                )}
            `}
        </section>
    `;
}
