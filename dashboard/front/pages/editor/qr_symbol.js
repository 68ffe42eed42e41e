/**
 * The modules of a QR code, for previews: ISO/IEC 18004 with bytes. The service draws the files; it may
 * choose another mask, which readers do not notice.
 */

/** @typedef {"L" | "M" | "Q" | "H"} Level */

/** Codewords for errors in each block, and the number of blocks, by version. @type {Record<Level, [number[], number[]]>} */
const BLOCKS = {
    L: [
        [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30],
        [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25],
    ],
    M: [
        [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28],
        [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49],
    ],
    Q: [
        [13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30, 28, 30, 30, 30, 30, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30],
        [1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20, 23, 23, 25, 27, 29, 34, 34, 35, 38, 40, 43, 45, 48, 51, 53, 56, 59, 62, 65, 68],
    ],
    H: [
        [17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28, 30, 24, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30],
        [1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25, 25, 34, 30, 32, 35, 37, 40, 42, 45, 48, 51, 54, 57, 60, 63, 66, 70, 74, 77, 81],
    ],
};
const LEVEL_BITS = { M: 0, L: 1, H: 2, Q: 3 };
const MOST_VERSIONS = 40;

/** @param {number} version */
function codewordsOf(version) {
    const alignments = version === 1 ? 0 : Math.floor(version / 7) + 2;
    let bits = (16 * version + 128) * version + 64;
    if (alignments > 0) bits -= (25 * alignments - 10) * alignments - 55;
    if (version >= 7) bits -= 36;
    return bits >> 3;
}

/** @param {number} a @param {number} b product in GF(256) */
function multiply(a, b) {
    let product = 0;
    for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> bit) & 1) * a);
    return product;
}

/** @param {number} degree @returns {number[]} */
function generator(degree) {
    const factors = [...new Array(degree - 1).fill(0), 1];
    let root = 1;
    for (let step = 0; step < degree; step++) {
        for (let at = 0; at < degree; at++) factors[at] = multiply(factors[at], root) ^ (factors[at + 1] ?? 0);
        root = multiply(root, 2);
    }
    return factors;
}

/** @param {number[]} data @param {number[]} factors */
function remainder(data, factors) {
    const rest = factors.map(() => 0);
    for (const byte of data) {
        const factor = byte ^ /** @type {number} */ (rest.shift());
        rest.push(0);
        factors.forEach((value, at) => (rest[at] ^= multiply(value, factor)));
    }
    return rest;
}

/**
 * The bytes of the text with its header and padding, and the version that has space for them.
 * @param {string} text
 * @param {Level} level
 */
function dataOf(text, level) {
    const bytes = [...new TextEncoder().encode(text)];
    const [perBlock, blocks] = BLOCKS[level];
    for (let version = 1; version <= MOST_VERSIONS; version++) {
        const capacity = codewordsOf(version) - perBlock[version - 1] * blocks[version - 1];
        const lengthBits = version < 10 ? 8 : 16;
        if (Math.ceil((4 + lengthBits) / 8 + bytes.length) > capacity) continue;
        let bits = `0100${bytes.length.toString(2).padStart(lengthBits, "0")}${bytes.map(byte => byte.toString(2).padStart(8, "0")).join("")}`;
        bits += "0".repeat(Math.min(4, 8 * capacity - bits.length));
        bits += "0".repeat(-bits.length & 7);
        const data = bits.match(/.{8}/g)?.map(byte => Number.parseInt(byte, 2)) ?? [];
        for (let pad = 0xec; data.length < capacity; pad ^= 0xfd) data.push(pad);
        return { version, data };
    }
    throw new RangeError("The text is too long for a QR code.");
}

/** @param {number[]} data @param {number} version @param {Level} level data and codewords for errors, interleaved */
function interleaved(data, version, level) {
    const [perBlock, counts] = BLOCKS[level];
    const [errors, count] = [perBlock[version - 1], counts[version - 1]];
    const total = codewordsOf(version);
    const shortLength = Math.floor(total / count) - errors;
    const firstLong = count - (total % count);
    const factors = generator(errors);
    let at = 0;
    const blocks = Array.from({ length: count }, (_, block) => {
        const part = data.slice(at, (at += shortLength + (block < firstLong ? 0 : 1)));
        return { part, correction: remainder(part, factors) };
    });
    const rows = [...Array(shortLength + 1).keys()].flatMap(row => blocks.flatMap(({ part }) => part[row] ?? []));
    return [...rows, ...[...Array(errors).keys()].flatMap(row => blocks.map(({ correction }) => correction[row]))];
}

/** @param {number} version the middles of the alignment patterns */
function alignmentsOf(version) {
    if (version === 1) return [];
    const count = Math.floor(version / 7) + 2;
    const step = version === 32 ? 26 : Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
    return [6, ...Array.from({ length: count - 1 }, (_, at) => version * 4 + 10 - (count - 2 - at) * step)];
}

/** @type {((row: number, column: number) => boolean)[]} */
const MASKS = [
    (row, column) => (row + column) % 2 === 0,
    row => row % 2 === 0,
    (_, column) => column % 3 === 0,
    (row, column) => (row + column) % 3 === 0,
    (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
    (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
    (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
    (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2 === 0,
];

/**
 * @param {string} text
 * @param {Level} [level]
 * @returns {boolean[][]} rows of modules: true is dark
 */
export function symbolOf(text, level = "M") {
    const { version, data } = dataOf(text, level);
    const size = 4 * version + 17;
    /** @type {(boolean | null)[][]} null: a module of the data */
    const fixed = Array.from({ length: size }, () => new Array(size).fill(null));
    drawPatterns(fixed, version);
    const bits = interleaved(data, version, level).map(byte => byte.toString(2).padStart(8, "0")).join("");
    const filled = fixed.map(row => [...row]);
    let at = 0;
    for (let right = size - 1; right >= 1; right -= 2) {
        if (right === 6) right = 5;
        for (let step = 0; step < size; step++) {
            const row = ((right + 1) & 2) === 0 ? size - 1 - step : step;
            for (const column of [right, right - 1]) {
                if (fixed[row][column] === null) filled[row][column] = bits[at++] === "1";
            }
        }
    }
    const candidates = MASKS.map((isMasked, mask) => {
        const rows = filled.map((row, y) => row.map((dark, x) => (fixed[y][x] === null ? dark !== isMasked(y, x) : dark === true)));
        drawFormat(rows, level, mask);
        return rows;
    });
    return candidates.reduce((best, other) => (penaltyOf(other) < penaltyOf(best) ? other : best));
}

/** @param {(boolean | null)[][]} rows @param {number} version */
function drawPatterns(rows, version) {
    const size = rows.length;
    for (let at = 0; at < size; at++) rows[6][at] = rows[at][6] = at % 2 === 0;
    for (const [y, x] of [[3, 3], [3, size - 4], [size - 4, 3]]) {
        for (let dy = -4; dy <= 4; dy++) {
            for (let dx = -4; dx <= 4; dx++) {
                const distance = Math.max(Math.abs(dx), Math.abs(dy));
                if (rows[y + dy]?.[x + dx] !== undefined) rows[y + dy][x + dx] = distance !== 2 && distance !== 4;
            }
        }
    }
    const middles = alignmentsOf(version);
    const last = middles.length - 1;
    middles.forEach((y, i) =>
        middles.forEach((x, j) => {
            if ((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)) return;
            for (let dy = -2; dy <= 2; dy++) {
                for (let dx = -2; dx <= 2; dx++) rows[y + dy][x + dx] = Math.max(Math.abs(dx), Math.abs(dy)) !== 1;
            }
        }),
    );
    // The places of the format, which depends on the mask.
    for (let at = 0; at < 9; at++) {
        rows[8][at] ??= false;
        rows[at][8] ??= false;
        if (at < 8) rows[8][size - 1 - at] = rows[size - 1 - at][8] = false;
    }
    if (version < 7) return;
    let rest = version;
    for (let step = 0; step < 12; step++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
    const bits = (version << 12) | rest;
    for (let at = 0; at < 18; at++) {
        const [near, far] = [Math.floor(at / 3), size - 11 + (at % 3)];
        rows[near][far] = rows[far][near] = ((bits >> at) & 1) === 1;
    }
}

/** @param {boolean[][]} rows @param {Level} level @param {number} mask */
function drawFormat(rows, level, mask) {
    const size = rows.length;
    const data = (LEVEL_BITS[level] << 3) | mask;
    let rest = data;
    for (let step = 0; step < 10; step++) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
    const bits = ((data << 10) | rest) ^ 0x5412;
    const bit = (/** @type {number} */ at) => ((bits >> at) & 1) === 1;
    for (let at = 0; at < 6; at++) rows[at][8] = bit(at);
    rows[7][8] = bit(6);
    rows[8][8] = bit(7);
    rows[8][7] = bit(8);
    for (let at = 9; at < 15; at++) rows[8][14 - at] = bit(at);
    for (let at = 0; at < 8; at++) rows[8][size - 1 - at] = bit(at);
    for (let at = 8; at < 15; at++) rows[size - 15 + at][8] = bit(at);
    rows[size - 8][8] = true;
}

/** How hard a symbol is to read: long runs, blocks, and false finder patterns. @param {boolean[][]} rows */
function penaltyOf(rows) {
    const size = rows.length;
    let penalty = 0;
    let dark = 0;
    const columns = rows.map((_, x) => rows.map(row => row[x]));
    for (const line of [...rows, ...columns]) {
        const text = line.map(module => (module ? "1" : "0")).join("");
        for (const [run] of text.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2;
        penalty += 40 * [...text.matchAll(/(?=10111010000|00001011101)/g)].length;
    }
    for (let y = 0; y < size; y++) {
        for (let x = 0; x < size; x++) {
            if (rows[y][x]) dark++;
            if (y + 1 < size && x + 1 < size && rows[y][x] === rows[y][x + 1] && rows[y][x] === rows[y + 1][x] && rows[y][x] === rows[y + 1][x + 1]) penalty += 3;
        }
    }
    return penalty + 10 * Math.floor(Math.abs((20 * dark) / (size * size) - 10));
}
