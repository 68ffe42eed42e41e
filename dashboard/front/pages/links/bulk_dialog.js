/** The dialog that changes the selected links. Its form is loaded when it is first opened. */
import { html, signal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Dialog } from "../../parts/dialog.js";
import { LazyPage } from "../../parts/lazy.js";
import { selected } from "./state.js";

const isOpen = signal(false);
const load = () => import("./bulk_edit.js").then(({ BulkEdit }) => ({ Page: BulkEdit }));

export function openBulkEdit() {
    isOpen.value = true;
}

/** Not part of the selection: the dialog stays while the list is loaded. */
export const BulkEditDialog = () => html`
    <${Dialog} isOpen=${isOpen} title=${t("bulkEdit.title", { count: selected.value.size })}>
        <${LazyPage} load=${load} onDone=${() => (isOpen.value = false)} />
    <//>
`;
