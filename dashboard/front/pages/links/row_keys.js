/** Keyboard shortcuts of the rows. They act on the focused row. */
import { copy } from "../../core/clipboard.js";
import { navigate } from "../../core/router.js";
import { openQrCode } from "./qr_dialog.js";
import { rows, select, selected } from "./state.js";

const all = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("tr[data-link]")]);
const focusedRow = () => document.activeElement?.closest("tr[data-link]") ?? null;

/** @param {1 | -1} step */
export function moveFocus(step) {
    const elements = all();
    const position = elements.findIndex(element => element === focusedRow());
    const next = position === -1 ? 0 : Math.min(elements.length - 1, Math.max(0, position + step));
    elements[next]?.focus();
}

function focusedLink() {
    const row = focusedRow();
    return row instanceof HTMLElement ? rows.value.find(link => link._id === row.dataset.link) : undefined;
}

export function toggleFocused() {
    const link = focusedLink();
    if (link !== undefined) select([link], !selected.value.has(link._id));
}

export function copyFocused() {
    const link = focusedLink() ?? rows.value[0];
    if (link !== undefined) copy(link.shortUrl);
}

/** @param {"" | "/report"} page of the link */
export function openFocused(page) {
    const link = focusedLink();
    if (link !== undefined) navigate(`/dashboard/links/${link._id}${page}`);
}

export function showQrCodeOfFocused() {
    const link = focusedLink();
    if (link !== undefined) openQrCode(link);
}
