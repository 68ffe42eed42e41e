/** Modal dialogs of the browser, which keep the focus inside and close on Escape. */
import { html, signal, useEffect, useMemo, useRef } from "../core/html.js";
import { t } from "../core/texts.js";
import { Icon } from "./icon.js";
import { Toasts } from "./toasts.js";

/** The open dialogs, the topmost last. The rest of the page is inert, so that one shows the messages. */
const openDialogs = signal(/** @type {symbol[]} */ ([]));

/** The messages of the page, as long as no dialog shows them. */
export const PageToasts = () => openDialogs.value.length === 0 && html`<${Toasts} />`;

/**
 * Opens and closes the dialog with this reference as the signal says.
 * @param {import("../core/html.js").Signal<boolean>} isOpen
 */
export function useModal(isOpen) {
    const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
    const name = useMemo(() => Symbol("dialog"), []);
    const isShown = isOpen.value;
    useEffect(() => {
        if (!isShown) {
            element.current?.close();
            return;
        }
        if (!element.current?.open) element.current?.showModal();
        openDialogs.value = [...openDialogs.peek(), name];
        return () => {
            openDialogs.value = openDialogs.peek().filter(other => other !== name);
        };
    }, [isShown]);
    // The `close` event arrives later. Meanwhile, the dialog may have been opened again.
    const onClose = () => {
        if (!element.current?.open) isOpen.value = false;
    };
    return { element, onClose, isOnTop: openDialogs.value.at(-1) === name };
}

/**
 * @param {object} properties
 * @param {import("../core/html.js").Signal<boolean>} properties.isOpen
 * @param {string} properties.title
 * @param {boolean} [properties.isWide]
 * @param {import("../core/html.js").Children} properties.children
 */
export function Dialog({ isOpen, title, isWide = false, children }) {
    const { element, onClose, isOnTop } = useModal(isOpen);
    return html`
        <dialog ref=${element} class=${isWide ? "wide" : undefined} aria-label=${title} onClose=${onClose}>
            ${isOpen.value &&
            html`<article>
                <header>
                    <button class="icon-button" aria-label=${t("dialog.close")} onClick=${() => (isOpen.value = false)}><${Icon} name="x" /></button>
                    <strong>${title}</strong>
                </header>
                ${children}
            </article>`}
            ${isOnTop && html`<${Toasts} />`}
        </dialog>
    `;
}
