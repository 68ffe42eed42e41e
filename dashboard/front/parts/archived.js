/** The badge of an archived link, and the message about an archival. */
import { html } from "../core/html.js";
import { t } from "../core/texts.js";
import { toast } from "../core/toasts.js";
import { Icon } from "./icon.js";

/** @param {{link: {isArchived: boolean}}} properties */
export const Archived = ({ link }) =>
    link.isArchived && html`<span class="state" data-state="archived"><${Icon} name="archive" />${t("archived.badge")}</span>`;

/**
 * @param {number} count of the links
 * @param {boolean} isArchived
 * @param {() => void} undo
 */
export const archivedToast = (count, isArchived, undo) =>
    toast(t(isArchived ? "archived.done" : "archived.undone", { count }), {
        actions: [{ label: t("selection.undo"), run: undo }],
    });
