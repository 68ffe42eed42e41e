/** The QR code of a link of the list, in a dialog. Its drawing is loaded when it is first opened. */
import { html, signal, useEffect, useSignal } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { loadStyle } from "../../core/styles.js";
import { t } from "../../core/texts.js";
import { Dialog } from "../../parts/dialog.js";

/** @typedef {import("./state.js").ListedUrl} ListedUrl */

const isOpen = signal(false);
const shown = signal(/** @type {ListedUrl | null} */ (null));

/** @param {ListedUrl} link */
export function openQrCode(link) {
    shown.value = link;
    isOpen.value = true;
}

export function QrDialog() {
    const link = shown.value;
    const name = link === null ? "" : withoutScheme(link.shortUrl);
    return html`
        <${Dialog} isOpen=${isOpen} title=${t("links.qrOf", { name })} isWide>
            ${link !== null && html`<${Content} key=${link._id} link=${link} />`}
        <//>
    `;
}

/** @param {{link: ListedUrl}} properties */
function Content({ link }) {
    const loaded = useSignal(/** @type {typeof import("../editor/qr.js") | null} */ (null));
    const hasFailed = useSignal(false);
    useEffect(() => {
        Promise.all([import("../editor/qr.js"), loadStyle("pages/editor/editor.css")]).then(
            ([module]) => (loaded.value = module),
            () => (hasFailed.value = true),
        );
    }, []);
    if (hasFailed.value) return html`<p role="alert" class="failure">${t("page.failed")}</p>`;
    if (loaded.value === null) return html`<p aria-busy="true">${t("page.loading")}</p>`;
    return html`<${loaded.value.QrCodes} link=${link} />`;
}
