/** The QR code of a link: its design, which the last file keeps, and files in every format. */
import { may } from "../../core/account.js";
import { keepDraft, readDraft } from "../../core/drafts.js";
import { listQrCodes } from "../../core/endpoints.js";
import { report } from "../../core/failures.js";
import { html, signal, useEffect, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { About } from "./inputs.js";
import { downloadQrCode } from "./qr_files.js";
import { QrPicture, usualDesign, warningOf } from "./qr_picture.js";

/** @typedef {import("./qr_picture.js").Design} Design */
/** @typedef {{_id: string, shortUrl: string, title?: string | null}} QrLink */

const FORMATS = /** @type {const} */ (["png", "svg", "jpeg"]);
const STYLES = /** @type {const} */ (["square", "rounded", "dots"]);
const MAX_LOGO_BYTES = 100_000;
const USUAL_SIZE = 600;
const brand = document.documentElement.dataset;

/**
 * The design that this tab has made for the link, else that of its newest file, whose logo cannot be read back, else the
 * usual one.
 * @param {QrLink} link
 */
export function useDesign(link) {
    const draft = `qr ${link._id}`;
    const design = useSignal(/** @type {Design} */ (readDraft(draft) ?? usualDesign()));
    useEffect(
        () => design.subscribe(value => JSON.stringify(value) !== JSON.stringify(usualDesign()) && keepDraft(draft, value)),
        [draft],
    );
    useEffect(() => {
        if (readDraft(draft) !== null) return;
        listQrCodes({ urlId: link._id, limit: 1 }).then(
            ([newest]) => {
                if (newest === undefined) return;
                const { foregroundColor, backgroundColor, style } = newest;
                design.value = { ...design.value, foregroundColor, backgroundColor, style };
            },
            // The usual design is a good start.
            () => {},
        );
    }, [link._id]);
    return design;
}

/** What the API remarked about the last file. */
const remarks = signal(/** @type {string[]} */ ([]));

/**
 * @param {QrLink} link
 * @param {Design} design
 * @param {{format: string, size?: number}} file
 */
export async function downloadDesign(link, { logo, ...design }, { format, size = USUAL_SIZE }) {
    try {
        remarks.value = await downloadQrCode(link, { urlId: link._id, ...design, ...(logo === "" ? {} : { logo }), format, size });
    } catch (error) {
        report(error);
    }
}

/** @param {{link: QrLink, design?: import("../../core/html.js").Signal<Design>}} properties */
export function QrCodes({ link, design: given }) {
    const own = useDesign(link);
    const design = given ?? own;
    const size = useSignal(USUAL_SIZE);
    const warning = warningOf(design.value);
    /** @param {Partial<Design>} changes */
    const change = changes => (design.value = { ...design.value, ...changes });
    useEffect(() => {
        remarks.value = [];
    }, [design.value]);
    return html`
        <div class="qr-design">
            <div class="stack">
                <${QrPicture} address=${link.shortUrl} design=${design.value} />
                ${warning !== null && html`<p class="note warn" role="status"><${Icon} name="triangle-alert" />${t(warning)}</p>`}
                ${warning === null &&
                remarks.value.map(remark => html`<p class="note warn" role="status"><${Icon} name="triangle-alert" /><span dir="auto">${remark}</span></p>`)}
            </div>
            <div class="stack">
                <div class="grid">
                    <${Color} label=${t("qr.foreground")} name="foregroundColor" design=${design.value} onChange=${change} />
                    <${Color} label=${t("qr.background")} name="backgroundColor" design=${design.value} onChange=${change} />
                </div>
                <label>
                    ${t("qr.style")}
                    <select name="style" onChange=${(/** @type {any} */ event) => change({ style: event.target.value })}>
                        ${STYLES.map(style => html`<option key=${style} value=${style} selected=${style === design.value.style}>${t(`qr.${style}`)}</option>`)}
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
                ${may("editor") &&
                html`<div class="actions" role="group" aria-label=${t("qr.download")}>
                    ${FORMATS.map(
                        format => html`<button key=${format} type="button" onClick=${() => downloadDesign(link, design.value, { format, size: size.value })}>
                            <${Icon} name="download" />${format.toUpperCase()}
                        </button>`,
                    )}
                </div>`}
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
