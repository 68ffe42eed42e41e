/** The QR code of a link of the list, in a dialog. Its drawing is loaded when it is first opened. */
import { html, signal } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { loadStyle } from "../../core/styles.js";
import { t } from "../../core/texts.js";
import { Dialog } from "../../parts/dialog.js";
import { LazyPage } from "../../parts/lazy.js";

/** @typedef {import("./state.js").ListedUrl} ListedUrl */

const isOpen = signal(false);
const shown = signal(/** @type {ListedUrl | null} */ (null));
const load = async () => {
    const [{ QrCodes }] = await Promise.all([import("../editor/qr.js"), loadStyle("pages/editor/editor.css")]);
    return { Page: QrCodes };
};

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
            ${link !== null && html`<${LazyPage} key=${link._id} load=${load} link=${link} />`}
        <//>
    `;
}
