/** Files with QR codes. */
import { signal } from "../../core/html.js";
import { report } from "../../core/failures.js";
import { save } from "../../core/saving.js";
import { fieldsOf } from "./qr_design.js";
import { createQrCode, readFile } from "./qr_endpoints.js";

/** What the API remarked about the last file. */
export const remarks = signal(/** @type {string[]} */ ([]));

/**
 * Creates a QR code and saves its file as a download. Returns what the API remarks about it.
 * @param {import("./qr_endpoints.js").Schemas["CreateQrCodeRequest"]} body
 */
export async function downloadQrCode(body) {
    const { qrCode, warnings } = await createQrCode(body);
    save(await readFile(qrCode._id));
    return warnings;
}

/**
 * @param {{_id: string}} link
 * @param {import("./qr_design.js").Design} design
 * @param {"png" | "svg" | "pdf" | "jpeg"} format
 */
export async function downloadDesign(link, design, format) {
    try {
        remarks.value = await downloadQrCode({ urlId: link._id, ...fieldsOf(design), format });
    } catch (error) {
        report(error);
    }
}
