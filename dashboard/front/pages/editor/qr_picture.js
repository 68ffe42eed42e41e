/** A QR code as the browser draws it: a preview, which stores nothing. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { logoOf } from "./qr_design.js";
import { symbolOf } from "./qr_symbol.js";

/** @typedef {import("./qr_design.js").Design} Design */

/** The share of the width that a logo takes. */
const LOGO = 0.2;
const FINDER = 7;
// The frame, as the service draws it (`qrcodes/frames.py`): a module wide, with a band for the text.
const BORDER = 1;
const BAND = 0.16;
const RADIUS = 0.04;
const TEXT = 0.6;
const CAPITAL = 0.668;

/** @param {{address: string, design: Design}} properties `address`: the short link */
export function QrPicture({ address, design }) {
    const logo = logoOf(design);
    const rows = symbolOf(`${address}?qr=1`, logo ? "H" : design.errorCorrectionLevel);
    const width = rows.length;
    const cleared = logo ? oddBelow(width * LOGO) : 0;
    const first = (width - cleared) / 2;
    for (let y = 0; y < cleared; y++) rows[first + y].fill(false, first, first + cleared);
    const text = design.frameText.trim();
    const margin = design.margin + (text === "" ? 0 : BORDER);
    const size = width + 2 * margin;
    const band = text === "" ? 0 : size * BAND;
    const top = design.framePosition === "above" ? band : 0;
    return html`
        <svg class="qr-picture" viewBox="0 0 ${size} ${size + band}" role="img" aria-label=${t("qr.alt")} shape-rendering=${design.style === "square" ? "crispEdges" : undefined}>
            <rect width=${size} height=${size + band} fill=${design.backgroundColor} />
            ${text !== "" && html`<${Frame} size=${size} band=${band} top=${top} text=${text} design=${design} />`}
            <g transform="translate(${margin} ${margin + top})">
                <path d=${outlineOf(rows, design.style)} fill=${design.foregroundColor} />
                ${cleared > 0 && html`<image href=${logo} x=${first + 0.5} y=${first + 0.5} width=${cleared - 1} height=${cleared - 1} />`}
            </g>
        </svg>
    `;
}

/** @param {Record<string, any>} properties */
function Frame({ size, band, top, text, design }) {
    const height = band + BORDER;
    const fontSize = Math.min(TEXT * height, (size - 6 * BORDER) / widthOf(text));
    const middle = (top > 0 ? 0 : size - BORDER) + height / 2;
    return html`
        <rect width=${size} height=${size + band} rx=${size * RADIUS} fill=${design.foregroundColor} shape-rendering="auto" />
        <rect x=${BORDER} y=${BORDER + top} width=${size - 2 * BORDER} height=${size - 2 * BORDER} fill=${design.backgroundColor} />
        <text x=${size / 2} y=${middle + (CAPITAL * fontSize) / 2} text-anchor="middle" font-size=${fontSize} font-weight="600" fill=${design.backgroundColor}>
            ${text}
        </text>
    `;
}

/** @type {CanvasRenderingContext2D | null} */
let measuring = null;

/** The width of a text, in ems. @param {string} text */
function widthOf(text) {
    measuring ??= document.createElement("canvas").getContext("2d");
    if (measuring === null) return text.length;
    measuring.font = `600 100px ${getComputedStyle(document.body).fontFamily}`;
    return measuring.measureText(text).width / 100;
}

/** @param {number} value */
const oddBelow = value => Math.floor(value) - (1 - (Math.floor(value) % 2));

/**
 * The dark modules. Rounded ones merge with their neighbours; dots are separate, except in the finder patterns.
 * @param {boolean[][]} rows
 * @param {string} style
 */
function outlineOf(rows, style) {
    const width = rows.length;
    const dark = (/** @type {number} */ y, /** @type {number} */ x) => rows[y]?.[x] === true;
    const isInFinder = (/** @type {number} */ y, /** @type {number} */ x) =>
        (y < FINDER && (x < FINDER || x >= width - FINDER)) || (y >= width - FINDER && x < FINDER);
    let outline = "";
    rows.forEach((row, y) =>
        row.forEach((isDark, x) => {
            if (!isDark) return;
            const [left, top] = [x, y];
            if (style === "square" || (style === "dots" && isInFinder(y, x))) outline += `M${left} ${top}h1v1h-1z`;
            else if (style === "dots") outline += `M${left} ${top + 0.5}a.5.5 0 1 1 1 0a.5.5 0 1 1-1 0z`;
            else {
                const [above, below, before, after] = [dark(y - 1, x), dark(y + 1, x), dark(y, x - 1), dark(y, x + 1)];
                const corner = (/** @type {boolean} */ isSharp, /** @type {string} */ sharp, /** @type {string} */ round) => (isSharp ? sharp : round);
                outline += `M${left} ${top + 0.5}`;
                outline += corner(above || before, "v-.5h.5", "a.5.5 0 0 1 .5-.5");
                outline += corner(above || after, "h.5v.5", "a.5.5 0 0 1 .5.5");
                outline += corner(below || after, "v.5h-.5", "a.5.5 0 0 1-.5.5");
                outline += corner(below || before, "h-.5v-.5", "a.5.5 0 0 1-.5-.5");
                outline += "z";
            }
        }),
    );
    return outline;
}

/** @param {string} color @returns {number[]} */
const channels = color => [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16));

/** @param {string} color the grey value that readers compute */
function greyOf(color) {
    const [red, green, blue] = channels(color);
    return Math.round(0.299 * red + 0.587 * green + 0.114 * blue);
}

/** @param {string} color relative luminance, as WCAG 2 defines it */
function luminanceOf(color) {
    const [red, green, blue] = channels(color).map(value => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * What readers will make of the colours, with the bounds of the service (`qrcodes/design.py`).
 * @param {Design} design
 * @returns {"qr.tooClose" | "qr.unreadable" | "qr.inverted" | null}
 */
export function warningOf({ foregroundColor: front, backgroundColor: back }) {
    const [darker, lighter] = [luminanceOf(front), luminanceOf(back)].sort((one, other) => one - other);
    const contrast = (lighter + 0.05) / (darker + 0.05);
    const greys = Math.abs(greyOf(front) - greyOf(back));
    if (greys < 13) return "qr.unreadable";
    if (greys < 51 || contrast < 3) return "qr.tooClose";
    return greyOf(front) > greyOf(back) ? "qr.inverted" : null;
}
