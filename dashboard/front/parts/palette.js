/** The command palette. Ctrl or Command with K opens it. Its search is loaded after the first view of the page. */
import { html, signal, useEffect } from "../core/html.js";
import { signIn } from "../core/session.js";
import { t } from "../core/texts.js";
import { useModal } from "./dialog.js";
import { LazyPage, loadOnce } from "./lazy.js";
import { Toasts } from "./toasts.js";

const load = () => import("./palette_search.js").then(({ Search }) => ({ Page: Search }));

export const isPaletteOpen = signal(false);
export const paletteKey = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘K" : "Ctrl K";

addEventListener("keydown", event => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    if (signIn.peek() === "in") isPaletteOpen.value = !isPaletteOpen.value;
});

/** @param {{onShortcuts: () => void}} properties */
export function Palette({ onShortcuts }) {
    const { element, onClose, isOnTop } = useModal(isPaletteOpen);
    // What is typed right after the key must find the field. If this fails, opening tries again.
    useEffect(() => {
        loadOnce(load).catch(() => null);
    }, []);
    // A click on the backdrop is one on the dialog itself.
    const onClick = (/** @type {Event} */ event) => event.target === element.current && (isPaletteOpen.value = false);
    return html`
        <dialog ref=${element} class="palette" aria-label=${t("palette.title")} onClose=${onClose} onClick=${onClick}>
            ${isPaletteOpen.value && html`<${LazyPage} load=${load} onDone=${() => (isPaletteOpen.value = false)} onShortcuts=${onShortcuts} />`}
            ${isOnTop && html`<${Toasts} />`}
        </dialog>
    `;
}
