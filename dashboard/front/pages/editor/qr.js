/** QR codes of a link: a preview, and files in every format. */
import { createQrCode } from "../../core/endpoints.js";
import { messageOf, report } from "../../core/failures.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { About } from "./inputs.js";
import { downloadQrCode, pathOf } from "./qr_files.js";

const FORMATS = /** @type {const} */ (["png", "svg", "jpeg"]);
const STYLES = /** @type {const} */ (["square", "rounded", "dots"]);
const MAX_LOGO_BYTES = 100_000;
const PREVIEW_SIZE = 300;
const brand = document.documentElement.dataset;

/**
 * An empty `logo` leaves the choice to the service; null is a code without one.
 * @typedef {{foregroundColor: string, backgroundColor: string, style: string, logo: string | null}} Design
 */

/** @param {{id: string}} properties */
export function QrCodes({ id }) {
    const isOpen = useSignal(false);
    return html`
        <details
            class="qr"
            onToggle=${(/** @type {any} */ event) => (isOpen.value = event.target.open)}
        >
            <summary>${t("section.qr")}</summary>
            ${isOpen.value && html`<${Designer} id=${id} />`}
        </details>
    `;
}

/** @param {{id: string}} properties */
function Designer({ id }) {
    const design = useSignal(
        /** @type {Design} */ ({
            foregroundColor: brand.qrColor ?? "#000000",
            backgroundColor: "#FFFFFF",
            style: "square",
            logo: "",
        }),
    );
    const size = useSignal(600);
    const preview = useSignal("");
    const problem = useSignal(/** @type {string | null} */ (null));
    /** @param {Partial<Design>} changes */
    const change = changes => (design.value = { ...design.value, ...changes });
    /** @param {{format: string, size: number}} file */
    const withDesign = file => {
        const { logo, ...rest } = design.value;
        return { urlId: id, ...rest, ...(logo === "" ? {} : { logo }), ...file };
    };
    useEffect(() => {
        createQrCode(/** @type {any} */ (withDesign({ format: "svg", size: PREVIEW_SIZE }))).then(
            code => {
                preview.value = pathOf(code.imageUrl);
                problem.value = null;
            },
            error => (problem.value = messageOf(error)),
        );
    }, [design.value]);
    /** @param {typeof FORMATS[number]} format */
    const download = format => downloadQrCode(withDesign({ format, size: size.value })).catch(report);
    return html`
        <div class="grid">
            <div>
                <div class="grid">
                    <${Color} label=${t("qr.foreground")} name="foregroundColor" design=${design.value} onChange=${change} />
                    <${Color} label=${t("qr.background")} name="backgroundColor" design=${design.value} onChange=${change} />
                </div>
                <label>
                    ${t("qr.style")}
                    <select name="style" onChange=${(/** @type {any} */ event) => change({ style: event.target.value })}>
                        ${STYLES.map(style => html`<option key=${style} value=${style}>${t(`qr.${style}`)}</option>`)}
                    </select>
                </label>
                <${Logo} onChange=${(/** @type {string} */ logo) => change({ logo })} />
                ${brand.brandLogo &&
                html`<label>
                    <input
                        type="checkbox"
                        name="withoutLogo"
                        checked=${design.value.logo === null}
                        onChange=${(/** @type {any} */ event) => change({ logo: event.target.checked ? null : "" })}
                    />
                    ${t("qr.withoutLogo")}
                </label>`}
                <label>
                    ${t("qr.size")}
                    <input
                        name="size"
                        type="number"
                        min="100"
                        max="2000"
                        value=${size.value}
                        onInput=${(/** @type {any} */ event) => (size.value = Number(event.target.value))}
                    />
                </label>
            </div>
            <div>
                ${preview.value && html`<img src=${preview.value} alt=${t("qr.alt")} width="240" height="240" />`}
                <${About} id="qr-problem" error=${problem.value ?? undefined} />
                <div role="group" aria-label=${t("qr.download")}>
                    ${FORMATS.map(
                        format => html`<button key=${format} class="secondary" onClick=${() => download(format)}>
                            ${format.toUpperCase()}
                        </button>`,
                    )}
                </div>
            </div>
        </div>
    `;
}

/** @param {Record<string, any>} properties */
const Color = ({ label, name, design, onChange }) => html`
    <label>
        ${label}
        <input
            type="color"
            name=${name}
            value=${design[name].toLowerCase()}
            onChange=${(/** @type {any} */ event) => onChange({ [name]: event.target.value.toUpperCase() })}
        />
    </label>
`;

/** @param {{onChange: (logo: string) => void}} properties */
function Logo({ onChange }) {
    const problem = useSignal("");
    /** @param {File | undefined} file */
    const read = file => {
        problem.value = "";
        if (file === undefined) return onChange("");
        if (file.size > MAX_LOGO_BYTES) {
            problem.value = t("qr.logoTooLarge", { bytes: MAX_LOGO_BYTES });
            return undefined;
        }
        const reader = new FileReader();
        reader.onload = () => onChange(String(reader.result));
        reader.readAsDataURL(file);
        return undefined;
    };
    return html`
        <label>
            ${t("qr.logo")}
            <input type="file" accept="image/png,image/jpeg" onChange=${(/** @type {any} */ event) => read(event.target.files[0])} />
            <${About} id="qr-logo" error=${problem.value} />
        </label>
    `;
}
