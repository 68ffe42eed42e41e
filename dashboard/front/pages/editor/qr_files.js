/** Files with QR codes. */
import { createQrCode } from "../../core/endpoints.js";
import { save } from "../../core/saving.js";
import { t } from "../../core/texts.js";

/** The page may have another origin than the images, such as the address of a host instead of its name.
 * @param {string} address */
export const pathOf = address => new URL(address).pathname;

/**
 * Creates a QR code and saves it as a download. Returns what the API remarks about it. Throws an Error with a message for
 * the user.
 * @param {{shortUrl: string, title?: string | null}} link
 * @param {{urlId: string, format: string, size: number} & Record<string, unknown>} design
 */
export async function downloadQrCode(link, design) {
    const { qrCode, warnings } = await createQrCode(/** @type {any} */ (design));
    const response = await fetch(pathOf(qrCode.imageUrl), { credentials: "omit" });
    if (!response.ok) throw new Error(t("error.unknown", { status: response.status }));
    save({ name: `${fileNameOf(link)}.${design.format}`, content: await response.blob() });
    return warnings;
}

/**
 * The code, and the title in letters that every file system takes: `qr-spring-Spring-sale`.
 * @param {{shortUrl: string, title?: string | null}} link
 */
export function fileNameOf({ shortUrl, title }) {
    const plain = (title ?? "").normalize("NFKD").replace(/\p{M}/gu, "");
    const words = plain.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
    return ["qr", shortUrl.slice(shortUrl.lastIndexOf("/") + 1), words.replace(/^-|-$/g, "")].filter(Boolean).join("-");
}
