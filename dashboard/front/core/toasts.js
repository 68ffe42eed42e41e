/** Short messages. A message about success disappears after some time. It can have actions, such as "Undo". */
import { signal } from "./html.js";

/** @typedef {{label: string, run: () => void}} Action */
/** @typedef {{id: number, text: string, kind: "done" | "failed", actions: Action[]}} Toast */

/** @type {import("./html.js").Signal<Toast[]>} */
export const toasts = signal(/** @type {Toast[]} */ ([]));
export const TOAST_MILLISECONDS = 8_000;
let last = 0;

/**
 * A failure stays until the user dismisses it, who may look elsewhere for longer than some seconds (WCAG 2.2.1).
 * @param {string} text
 * @param {{kind?: "done" | "failed", actions?: Action[]}} [options]
 */
export function toast(text, { kind = "done", actions = [] } = {}) {
    const id = ++last;
    const others = toasts.value.filter(shown => kind === "done" || shown.kind === "done" || shown.text !== text);
    toasts.value = [...others, { id, text, kind, actions }];
    if (kind === "done") setTimeout(() => dismiss(id), TOAST_MILLISECONDS);
}

/** Dismisses the messages about successes. */
export function dismissDone() {
    toasts.value = toasts.value.filter(shown => shown.kind !== "done" || shown.actions.length > 0);
}

/** @param {number} id */
export function dismiss(id) {
    toasts.value = toasts.value.filter(shown => shown.id !== id);
}
