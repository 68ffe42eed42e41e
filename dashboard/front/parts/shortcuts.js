import { html } from "../core/html.js";
import { shortcuts } from "../core/keys.js";
import { t } from "../core/texts.js";
import { Dialog } from "./dialog.js";

/** @param {{isOpen: import("../core/html.js").Signal<boolean>}} properties */
export const ShortcutsDialog = ({ isOpen }) => html`
    <${Dialog} isOpen=${isOpen} title=${t("keys.title")}>
        <dl class="keys">
            ${shortcuts.value.map(
                ({ key, label }) => html`
                    <dt><kbd>${key}</kbd></dt>
                    <dd>${label()}</dd>
                `,
            )}
        </dl>
    <//>
`;
