/** Tables as CSV files. Text that a spreadsheet would run as a formula gets an apostrophe, as in the API's exports. */
import { save } from "../../core/saving.js";

/** @typedef {string | number | null} Cell */

const FORMULA = /^'*(?:\s*[=+\-@|%＝＋－＠\0]|[\t\r\n])/;

/** @param {Cell} cell */
function quoted(cell) {
    if (typeof cell === "number") return String(cell);
    const text = cell ?? "";
    const guarded = FORMULA.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** @param {Cell[][]} rows */
export const toCsv = rows => rows.map(row => `${row.map(quoted).join(",")}\r\n`).join("");

/**
 * The byte order mark tells spreadsheets that the file is UTF-8.
 * @param {string} name without the extension
 * @param {Cell[][]} rows
 */
export const saveCsv = (name, rows) =>
    save({ name: `${name}.csv`, content: new Blob(["\ufeff", toCsv(rows)], { type: "text/csv" }) });
