import { toast } from "./toasts.js";
import { t } from "./texts.js";

/** @param {string} text */
export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        // Browsers offer the clipboard only over TLS or on localhost, and users can deny it.
        if (!copyBySelection(text)) {
            toast(t("copy.failed", { text }), { kind: "failed" });
            return;
        }
    }
    toast(t("copy.done", { text }));
}

/** @param {string} text */
function copyBySelection(text) {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "visually-hidden";
    document.body.append(field);
    const focused = document.activeElement;
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return isCopied;
}
