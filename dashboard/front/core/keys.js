/** Single-key shortcuts. They do nothing while an input has the focus. While a dialog is open, only Escape works. */
import { signal, useEffect } from "./html.js";

/** @typedef {{key: string, label: () => string, run: () => void}} Shortcut */

/** @type {import("./html.js").Signal<Shortcut[]>} */
export const shortcuts = signal(/** @type {Shortcut[]} */ ([]));

/**
 * The shortcuts of a component, while it is shown.
 * @param {Shortcut[]} own
 */
export function useShortcuts(own) {
    useEffect(() => {
        shortcuts.value = [...shortcuts.value, ...own];
        return () => {
            shortcuts.value = shortcuts.value.filter(shortcut => !own.includes(shortcut));
        };
    }, []);
}

export function startKeys() {
    addEventListener("keydown", event => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
        const shortcut = shortcuts.value.find(candidate => candidate.key === event.key);
        if (shortcut === undefined) return;
        event.preventDefault();
        shortcut.run();
    });
}

/** @param {EventTarget | null} target */
function isTyping(target) {
    return target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select");
}
