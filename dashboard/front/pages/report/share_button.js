import { may } from "../../core/account.js";
import { html, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Dialog } from "../../parts/dialog.js";
import { Icon } from "../../parts/icon.js";
import { LazyPage } from "../../parts/lazy.js";

const load = () => import("./sharing.js").then(({ Sharing }) => ({ Page: Sharing }));

/** Opens the dialog that shares the report. @param {{urlId: string | null}} properties null: that of the workspace */
export function ShareButton({ urlId }) {
    const isOpen = useSignal(false);
    if (!may("editor")) return null;
    return html`
        <button type="button" aria-label=${t("sharing.open")} onClick=${() => (isOpen.value = true)}>
            <${Icon} name="external-link" /><span class="wide-only">${t("sharing.open")}</span>
        </button>
        <${Dialog} isOpen=${isOpen} title=${t("sharing.title")}>${isOpen.value && html`<${LazyPage} load=${load} urlId=${urlId} />`}<//>
    `;
}
