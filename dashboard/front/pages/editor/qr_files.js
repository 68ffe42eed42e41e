/** Files with QR codes. */
import { createQrCode } from "../../core/endpoints.js";
import { save } from "../../core/saving.js";
import { t } from "../../core/texts.js";

/** The page may have another origin than the images, such as the address of a host instead of its name.
 * @param {string} address */
export const pathOf = address => new URL(address).pathname;

/**
 * Creates a QR code and saves it as a download. Throws an Error with a message for the user.
 * @param {{urlId: string, format: string, size: number} & Record<string, unknown>} design
 */
export async function downloadQrCode(design) {
    const code = await createQrCode(/** @type {any} */ (design));
    const response = await fetch(pathOf(code.imageUrl), { credentials: "omit" });
    if (!response.ok) throw new Error(t("error.unknown", { status: response.status }));
    save({ name: `qr-${design.urlId}.${design.format}`, content: await response.blob() });
}
