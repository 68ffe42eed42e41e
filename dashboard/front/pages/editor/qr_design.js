/** The design of QR codes in the page, and its form in the API. */
import { keepDraft, readDraft } from "../../core/drafts.js";
import { signal, useEffect, useSignal } from "../../core/html.js";
import { listDesigns, listQrCodes, readDesign } from "./qr_endpoints.js";

/**
 * An empty `logo` leaves the choice to the service; null is a code without one. An empty `frameText` is none.
 * @typedef {object} Design
 * @property {string} foregroundColor
 * @property {string} backgroundColor
 * @property {"square" | "rounded" | "dots"} style
 * @property {"L" | "M" | "Q" | "H"} errorCorrectionLevel
 * @property {number} margin
 * @property {string} frameText
 * @property {"below" | "above"} framePosition
 * @property {number} size
 * @property {number | null} widthMm
 * @property {string | null} logo
 */

const brand = document.documentElement.dataset;
const USUAL_SIZE = 600;

/** @returns {Design} */
export const usualDesign = () => ({
    foregroundColor: brand.qrColor ?? "#000000",
    backgroundColor: "#FFFFFF",
    style: "square",
    errorCorrectionLevel: "M",
    margin: 4,
    frameText: "",
    framePosition: "below",
    size: USUAL_SIZE,
    widthMm: null,
    logo: "",
});

/** The logo that codes of the design have. @param {Design} design */
export const logoOf = ({ logo }) => (logo === "" ? brand.brandLogo : logo) ?? null;

/** The fields of a new code, or of a sheet. @param {Design} design */
export function fieldsOf({ logo, frameText, ...fields }) {
    return { ...fields, frameText: frameText.trim() || null, ...(logo === "" ? {} : { logo }) };
}

/** The fields of a saved design. @param {Design} design */
export function savedFieldsOf(design) {
    return { ...fieldsOf(design), logo: design.logo || null, brandLogo: design.logo !== null };
}

/**
 * The design of a code or of a saved design. The API keeps the logo of a code to itself.
 * @param {Omit<import("./qr_endpoints.js").QrCode, "_id"> | import("./qr_endpoints.js").SavedDesign} shown
 * @returns {Design}
 */
export function designOf(shown) {
    const { foregroundColor, backgroundColor, style, errorCorrectionLevel, margin, framePosition, size, widthMm } = shown;
    const fields = { foregroundColor, backgroundColor, style, errorCorrectionLevel, margin, framePosition, size, widthMm };
    const logo = "brandLogo" in shown ? (shown.logo ?? (shown.brandLogo ? "" : null)) : "";
    return { ...fields, frameText: shown.frameText ?? "", logo };
}

/** The saved designs of the workspace. Null: not loaded. @type {import("../../core/html.js").Signal<import("./qr_endpoints.js").ListedDesign[] | null>} */
export const savedDesigns = signal(null);

export async function loadDesigns() {
    savedDesigns.value ??= await listDesigns();
    return savedDesigns.value;
}

/** The default design of the workspace, if there is one. */
export async function defaultDesign() {
    const chosen = (await loadDesigns()).find(({ isDefault }) => isDefault);
    return chosen === undefined ? null : designOf(await readDesign(chosen._id));
}

/**
 * The design that this tab has made for the link, else that of its newest file, else the default of the workspace, else
 * the usual one.
 * @param {{_id: string}} link
 */
export function useDesign(link) {
    const draft = `qr ${link._id}`;
    const design = useSignal(/** @type {Design} */ ({ ...usualDesign(), ...readDraft(draft) }));
    useEffect(
        () => design.subscribe(value => JSON.stringify(value) !== JSON.stringify(usualDesign()) && keepDraft(draft, value)),
        [draft],
    );
    useEffect(() => {
        if (readDraft(draft) !== null) return;
        const untouched = design.peek();
        firstDesign(link).then(
            // Meanwhile, the user may have begun to design.
            found => found !== null && design.peek() === untouched && (design.value = found),
            // The usual design is a good start.
            () => {},
        );
    }, [link._id]);
    return design;
}

/** @param {{_id: string}} link */
async function firstDesign(link) {
    const [newest] = await listQrCodes({ urlId: link._id, limit: 1 });
    return newest === undefined ? defaultDesign() : designOf(newest);
}
