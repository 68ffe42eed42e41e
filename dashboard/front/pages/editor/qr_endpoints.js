/** Calls about QR codes and their saved designs. */
import { call, callForBody, download, inOwnLanguage } from "../../core/api.js";

/** @typedef {import("../../types/api.js").components["schemas"]} Schemas */
/** @typedef {Schemas["QrCode"]} QrCode */
/** @typedef {Schemas["QrDesign"]} SavedDesign */
/** @typedef {Schemas["ListedQrDesign"]} ListedDesign */
/** @typedef {Schemas["CreateQrDesignRequest"]} DesignRequest */

/**
 * The QR codes of a link, the newest first.
 * @param {{urlId: string, limit: number}} query
 * @returns {Promise<QrCode[]>}
 */
export const listQrCodes = async query => (await call("GET", "/qr-codes", { query })).qrCodes;

/**
 * The code, and what the API remarks about its colours.
 * @param {Schemas["CreateQrCodeRequest"]} body
 * @returns {Promise<{qrCode: QrCode, warnings: string[]}>}
 */
export async function createQrCode(body) {
    const { data, warnings = [] } = await callForBody("POST", "/qr-codes", { body });
    return { qrCode: data.qrCode, warnings: inOwnLanguage(warnings).map(({ message }) => message) };
}

/** The file, which the service has decoded. @param {string} id */
export const readFile = id => download("GET", `/qr-codes/${id}/file`, {});

/** @param {Schemas["QrSheetRequest"]} body */
export const readSheet = body => download("POST", "/qr-codes/sheet", { body });

/** @returns {Promise<ListedDesign[]>} */
export const listDesigns = async () => (await call("GET", "/qr-designs")).designs;

/**
 * @param {string} id
 * @returns {Promise<SavedDesign>}
 */
export const readDesign = async id => (await call("GET", `/qr-designs/${id}`)).design;

// The page shows warnings about colours while they are chosen, so those of the API would say it twice.

/**
 * @param {DesignRequest} body
 * @param {string} idempotencyKey
 * @returns {Promise<SavedDesign>}
 */
export const createDesign = async (body, idempotencyKey) =>
    (await callForBody("POST", "/qr-designs", { body, idempotencyKey })).data.design;

/**
 * @param {string} id
 * @param {Schemas["UpdateQrDesignRequest"]} body
 * @returns {Promise<SavedDesign>}
 */
export const updateDesign = async (id, body) => (await callForBody("PUT", `/qr-designs/${id}`, { body })).data.design;

/** @param {string} id */
export const deleteDesign = id => call("DELETE", `/qr-designs/${id}`);
