/** Short messages that disappear after some time. A message can have an action, such as "Undo". */
import { signal } from "./html.js";

/** @typedef {{id: number, text: string, kind: "done" | "failed", action?: {label: string, run: () => void}}} Toast */

/** @type {import("./html.js").Signal<Toast[]>} */
export const toasts = signal(/** @type {Toast[]} */ ([]));
export const TOAST_MILLISECONDS = 8_000;
let last = 0;

/**
 * @param {string} text
 * @param {{kind?: "done" | "failed", action?: {label: string, run: () => void}}} [options]
 */
export function toast(text, { kind = "done", action } = {}) {
    const id = ++last;
    toasts.value = [...toasts.value, { id, text, kind, action }];
    setTimeout(() => dismiss(id), TOAST_MILLISECONDS);
}

/** @param {number} id */
export function dismiss(id) {
    toasts.value = toasts.value.filter(shown => shown.id !== id);
}
