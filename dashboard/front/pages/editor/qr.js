/** The designer of the QR code of a link. Its files are in every format; the service has decoded each. */
import { may } from "../../core/account.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { About } from "../../parts/about.js";
import { Icon } from "../../parts/icon.js";
import { logoOf, useDesign } from "./qr_design.js";
import { downloadDesign, remarks } from "./qr_files.js";
import { QrPicture, warningOf } from "./qr_picture.js";
import { SavedDesigns } from "./qr_saved.js";
import { Size } from "./qr_size.js";

/** @typedef {import("./qr_design.js").Design} Design */
/** @typedef {{_id: string, shortUrl: string}} QrLink */

const FORMATS = /** @type {const} */ (["png", "svg", "pdf", "jpeg"]);
const STYLES = /** @type {const} */ (["square", "rounded", "dots"]);
const LEVELS = /** @type {const} */ (["L", "M", "Q", "H"]);
const POSITIONS = /** @type {const} */ (["below", "above"]);
const MAX_LOGO_BYTES = 100_000;
const MAX_FRAME_TEXT = 30;
const brand = document.documentElement.dataset;

/** @param {{link: QrLink, design?: import("../../core/html.js").Signal<Design>}} properties */
export function QrCodes({ link, design: given }) {
    const own = useDesign(link);
    const design = given ?? own;
    const isBusy = useSignal(false);
    const warning = warningOf(design.value);
    /** @param {Partial<Design>} changes */
    const change = changes => (design.value = { ...design.value, ...changes });
    useEffect(() => {
        remarks.value = [];
    }, [design.value]);
    /** @param {typeof FORMATS[number]} format */
    const download = async format => {
        isBusy.value = true;
        await downloadDesign(link, design.value, format);
        isBusy.value = false;
    };
    return html`
        <div class="qr-design">
            <div class="stack">
                <${QrPicture} address=${link.shortUrl} design=${design.value} />
                ${warning !== null && html`<p class="note warn" role="status"><${Icon} name="triangle-alert" />${t(warning)}</p>`}
                ${warning === null &&
                remarks.value.map(remark => html`<p class="note warn" role="status"><${Icon} name="triangle-alert" /><span dir="auto">${remark}</span></p>`)}
                ${may("editor") &&
                html`
                    <div class="actions" role="group" aria-label=${t("qr.download")}>
                        ${FORMATS.map(
                            format => html`<button key=${format} type="button" disabled=${isBusy.value} onClick=${() => download(format)}>
                                <${Icon} name="download" />${format.toUpperCase()}
                            </button>`,
                        )}
                    </div>
                    <small>${t("qr.decoded")}</small>
                `}
            </div>
            <div class="stack">
                <${SavedDesigns} design=${design} />
                <div class="grid">
                    <${Color} label=${t("qr.foreground")} name="foregroundColor" design=${design.value} onChange=${change} />
                    <${Color} label=${t("qr.background")} name="backgroundColor" design=${design.value} onChange=${change} />
                    <${Choice} label=${t("qr.style")} name="style" values=${STYLES} text=${(/** @type {typeof STYLES[number]} */ style) => t(`qr.${style}`)} design=${design.value} onChange=${change} />
                    <${Level} design=${design.value} onChange=${change} />
                </div>
                <div class="grid">
                    <label>
                        ${t("qr.frameText")}
                        <input
                            name="frameText"
                            maxlength=${MAX_FRAME_TEXT}
                            placeholder=${t("qr.frameExample")}
                            dir="auto"
                            value=${design.value.frameText}
                            onInput=${(/** @type {any} */ event) => change({ frameText: event.target.value })}
                        />
                    </label>
                    ${design.value.frameText.trim() !== "" &&
                    html`<${Choice} label=${t("qr.framePosition")} name="framePosition" values=${POSITIONS} text=${(/** @type {typeof POSITIONS[number]} */ place) => t(`qr.${place}`)} design=${design.value} onChange=${change} />`}
                </div>
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
                <${Size} design=${design.value} onChange=${change} />
            </div>
        </div>
    `;
}

/** @param {Record<string, any>} properties */
const Choice = ({ label, name, values, text, design, onChange, ...more }) => html`
    <label>
        ${label}
        <select name=${name} onChange=${(/** @type {any} */ event) => onChange({ [name]: event.target.value })} ...${more}>
            ${values.map((/** @type {string} */ value) => html`<option key=${value} value=${value} selected=${value === design[name]}>${text(value)}</option>`)}
        </select>
    </label>
`;

/** A logo hides modules, so it takes the highest level. @param {{design: Design, onChange: (changes: Partial<Design>) => void}} properties */
function Level({ design, onChange }) {
    const hasLogo = logoOf(design) !== null;
    const shown = hasLogo ? { ...design, errorCorrectionLevel: "H" } : design;
    return html`<${Choice}
        label=${t("qr.level")}
        name="errorCorrectionLevel"
        values=${LEVELS}
        text=${(/** @type {typeof LEVELS[number]} */ level) => t(`qr.level.${level}`)}
        design=${shown}
        onChange=${onChange}
        disabled=${hasLogo}
    />`;
}

/** @param {Record<string, any>} properties */
const Color = ({ label, name, design, onChange }) => html`
    <label>
        ${label}
        <input
            type="color"
            name=${name}
            value=${design[name].toLowerCase()}
            onInput=${(/** @type {any} */ event) => onChange({ [name]: event.target.value.toUpperCase() })}
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
