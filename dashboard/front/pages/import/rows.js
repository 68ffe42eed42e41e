/** Splits a file into rows, so that batches of them can be sent. Only the service interprets the cells of a row. */

/**
 * `head` and `separator` are those of a CSV file. `isWhole`: the file cannot be split, so it is a single row.
 * @typedef {{rows: string[], join: (rows: string[]) => string, isWhole: boolean, head?: string, separator?: string}} Table
 */

const SEPARATORS = [",", ";", "\t"];
/** The column with the reason in a file of refused rows. An import ignores it. */
const REASON = "importError";

/**
 * @param {string} content
 * @returns {Table}
 */
export function tableOf(content) {
    const text = content.trimStart();
    return /^[[{]/.test(text) ? jsonTable(text) : csvTable(text);
}

/**
 * @param {string} content
 * @returns {Table}
 */
export const wholeTable = content => ({ rows: [content], join: ([row]) => row, isWhole: true });

/**
 * @param {string} text
 * @returns {Table}
 */
function jsonTable(text) {
    try {
        const document = JSON.parse(text);
        if (!Array.isArray(document)) return wholeTable(text);
        return { rows: document.map(link => JSON.stringify(link)), join: rows => `[${rows.join(",")}]`, isWhole: false };
    } catch {
        // JSON Lines.
        const rows = text.split("\n").filter(line => line.trim() !== "");
        return { rows, join: lines => lines.join("\n"), isWhole: false };
    }
}

/**
 * @param {string} text
 * @returns {Table}
 */
function csvTable(text) {
    const [first] = text.split(/[\r\n]/, 1);
    /** @param {string} separator */
    const count = separator => first.split(separator).length;
    const separator = SEPARATORS.reduce((best, other) => (count(other) > count(best) ? other : best));
    const [head = "", ...records] = csvRecords(text, separator);
    // The service skips rows of empty cells.
    const rows = records.filter(record => [...record].some(character => character !== separator && character !== '"'));
    return csvOf(head, separator, rows);
}

/**
 * @param {string} head
 * @param {string} separator
 * @param {string[]} rows
 * @returns {Table}
 */
const csvOf = (head, separator, rows) =>
    ({ rows, join: batch => [head, ...batch].join("\n"), isWhole: false, head, separator });

/**
 * The cells of a record, as they are shown.
 * @param {string} record
 * @param {string} separator
 */
export function cellsOf(record, separator) {
    const cells = [""];
    let isQuoted = false;
    for (let at = 0; at < record.length; at++) {
        const character = record[at];
        if (isQuoted && character === '"' && record[at + 1] === '"') cells[cells.length - 1] += record[++at];
        else if (character === '"' && (isQuoted || cells.at(-1) === "")) isQuoted = !isQuoted;
        else if (character === separator && !isQuoted) cells.push("");
        else cells[cells.length - 1] += character;
    }
    return cells;
}

/** @param {string} cell @param {string} separator */
const quoted = (cell, separator) => (/["\r\n]/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell);

/**
 * The table with other names of columns, by their positions.
 * @param {Table} table of a CSV file
 * @param {Map<number, string>} names
 * @returns {Table}
 */
export function renamed({ head = "", separator = ",", rows }, names) {
    const cells = cellsOf(head, separator).map((cell, position) => names.get(position) ?? cell);
    return csvOf(cells.map(cell => quoted(cell, separator)).join(separator), separator, rows);
}

/**
 * A file with the rows at these positions, each with the reason for its refusal, to correct and to import again.
 * @param {Table} table
 * @param {Map<number, string>} reasons
 */
export function rejectedRows({ rows, join, head, separator }, reasons) {
    const parts = [...reasons];
    if (head === undefined || separator === undefined) {
        return join(parts.map(([position, reason]) => withReason(rows[position], reason)));
    }
    // In front, because a record can have fewer cells than the head. Excel takes UTF-8 for it only with the mark.
    const lines = parts.map(([position, reason]) => quoted(reason, separator) + separator + rows[position]);
    return `\uFEFF${csvOf(REASON + separator + head, separator, lines).join(lines)}\n`;
}

/** @param {string} row @param {string} reason */
function withReason(row, reason) {
    try {
        return JSON.stringify({ [REASON]: reason, ...JSON.parse(row) });
    } catch {
        return row;
    }
}

/**
 * A line break between quotes does not end a record. Only at the start of a cell does a quote begin a quoted part.
 * @param {string} text
 * @param {string} separator
 */
function csvRecords(text, separator) {
    /** @type {string[]} */
    const records = [];
    let start = 0;
    let isQuoted = false;
    let isCellStart = true;
    for (let at = 0; at < text.length; at++) {
        const character = text[at];
        if (isQuoted) {
            if (character === '"' && text[at + 1] === '"') at++;
            else if (character === '"') isQuoted = false;
            continue;
        }
        if (character === "\n" || character === "\r") {
            records.push(text.slice(start, at));
            if (character === "\r" && text[at + 1] === "\n") at++;
            start = at + 1;
            isCellStart = true;
        } else {
            isQuoted = isCellStart && character === '"';
            isCellStart = character === separator;
        }
    }
    if (start < text.length) records.push(text.slice(start));
    return records;
}

/**
 * Consecutive positions in batches of at most this many rows and characters. A row is never split.
 * @param {number[]} positions
 * @param {string[]} rows
 * @param {{rows: number, characters: number}} limits
 */
export function* batches(positions, rows, limits) {
    /** @type {number[]} */
    let batch = [];
    let characters = 0;
    for (const position of positions) {
        const length = rows[position].length;
        if (batch.length === limits.rows || (batch.length > 0 && characters + length > limits.characters)) {
            yield batch;
            batch = [];
            characters = 0;
        }
        batch.push(position);
        characters += length;
    }
    if (batch.length > 0) yield batch;
}
