/** A modal dialog of the browser, which keeps the focus inside and closes on Escape. */
import { html, useEffect, useRef } from "../core/html.js";
import { t } from "../core/texts.js";
import { Icon } from "./icon.js";

/**
 * @param {object} properties
 * @param {import("../core/html.js").Signal<boolean>} properties.isOpen
 * @param {string} properties.title
 * @param {boolean} [properties.isWide]
 * @param {import("../core/html.js").Children} properties.children
 */
export function Dialog({ isOpen, title, isWide = false, children }) {
    const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
    const isShown = isOpen.value;
    useEffect(() => {
        if (isShown && !element.current?.open) element.current?.showModal();
        if (!isShown && element.current?.open) element.current.close();
    }, [isShown]);
    // The `close` event arrives later. Meanwhile, the dialog may have been opened again.
    const onClose = () => {
        if (!element.current?.open) isOpen.value = false;
    };
    return html`
        <dialog ref=${element} class=${isWide ? "wide" : undefined} aria-label=${title} onClose=${onClose}>
            ${isShown &&
            html`<article>
                <header>
                    <button class="icon-button" aria-label=${t("dialog.close")} onClick=${() => (isOpen.value = false)}><${Icon} name="x" /></button>
                    <strong>${title}</strong>
                </header>
                ${children}
            </article>`}
        </dialog>
    `;
}
