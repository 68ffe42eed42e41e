/** The size of a QR code: in pixels, and how wide it is printed. */
import { html, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";

/** @typedef {import("./qr_design.js").Design} Design */

const MM_PER_INCH = 25.4;
const [MIN_SIZE, MAX_SIZE] = [100, 2000];
const [MIN_WIDTH, MAX_WIDTH] = [5, 2000];
const RESOLUTIONS = [150, 300, 600];
const USUAL_RESOLUTION = 300;

/** Pixels for this width at this resolution, within the bounds of the service. @param {number} widthMm @param {number} dpi */
const sizeAt = (widthMm, dpi) => Math.min(MAX_SIZE, Math.max(MIN_SIZE, Math.round((widthMm / MM_PER_INCH) * dpi)));

/** @param {number} size @param {number} widthMm */
const resolutionOf = (size, widthMm) => Math.round((size * MM_PER_INCH) / widthMm);

/** @param {{design: Design, onChange: (changes: Partial<Design>) => void}} properties */
export function Size({ design: { size, widthMm }, onChange }) {
    // Of the last choice: what is typed on the way to another width must not change it.
    const dpi = useSignal(widthMm === null ? USUAL_RESOLUTION : resolutionOf(size, widthMm));
    // An unfinished number stays in its field until it is one that the service takes.
    /** @param {number} width */
    const changeWidth = width => {
        if (Number.isNaN(width)) onChange({ widthMm: null });
        else if (Number.isInteger(width) && width >= MIN_WIDTH && width <= MAX_WIDTH) onChange({ widthMm: width, size: sizeAt(width, dpi.value) });
    };
    const actual = widthMm === null ? null : resolutionOf(size, widthMm);
    return html`
        <div class="grid">
            <label>
                ${t("qr.size")}
                <input
                    name="size"
                    type="number"
                    min=${MIN_SIZE}
                    max=${MAX_SIZE}
                    value=${size}
                    onInput=${(/** @type {any} */ event) => onChange({ size: Number(event.target.value) })}
                />
            </label>
            <label>
                ${t("qr.width")}
                <input
                    name="widthMm"
                    type="number"
                    min=${MIN_WIDTH}
                    max=${MAX_WIDTH}
                    value=${widthMm ?? ""}
                    onInput=${(/** @type {any} */ event) => changeWidth(event.target.valueAsNumber)}
                />
            </label>
            ${widthMm !== null &&
            html`<label>
                ${t("qr.resolution")}
                <select
                    name="resolution"
                    onChange=${(/** @type {any} */ event) => {
                        dpi.value = Number(event.target.value);
                        onChange({ size: sizeAt(widthMm, dpi.value) });
                    }}
                >
                    ${RESOLUTIONS.map(value => html`<option key=${value} value=${value} selected=${actual === value}>${t("qr.dpi", { count: value })}</option>`)}
                    ${!RESOLUTIONS.includes(Number(actual)) && html`<option value=${actual} selected>${t("qr.dpi", { count: Number(actual) })}</option>`}
                </select>
            </label>`}
        </div>
        ${actual !== null && size === MAX_SIZE && html`<small>${t("qr.largePrint")}</small>`}
    `;
}
