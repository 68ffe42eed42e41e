/** Splits a file into rows, so that batches of them can be sent. Only the service interprets the cells of a row. */

/** @typedef {{rows: string[], join: (rows: string[]) => string, isWhole: boolean}} Table */

const SEPARATORS = [",", ";", "\t"];

/**
 * `isWhole`: the file cannot be split, so it is a single row.
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
    return { rows, join: batch => [head, ...batch].join("\n"), isWhole: false };
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
