/** A sheet with the QR codes of the selected links. Its form is loaded when it is first opened. */
import { html, signal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Dialog } from "../../parts/dialog.js";
import { LazyPage } from "../../parts/lazy.js";
import { selected } from "./state.js";

/** As many as the API takes. */
const MAX_LINKS = 100;
const isOpen = signal(false);
const load = () => import("../editor/qr_sheet.js").then(({ Sheet }) => ({ Page: Sheet }));

export function openSheet() {
    isOpen.value = true;
}

/** Not part of the selection: the dialog stays while the list is loaded. */
export const SheetDialog = () => html`
    <${Dialog} isOpen=${isOpen} title=${t("sheet.title", { count: selected.value.size })}>
        ${selected.value.size > MAX_LINKS
            ? html`<p class="failure">${t("sheet.limit", { count: MAX_LINKS })}</p>`
            : html`<${LazyPage} load=${load} ids=${[...selected.value.keys()]} onDone=${() => (isOpen.value = false)} />`}
    <//>
`;
