/** The endpoints of shared reports. */
import { call } from "../../core/api.js";

/** @typedef {import("../../core/endpoints.js").Schemas["Share"]} Share */
/** @typedef {import("../../core/endpoints.js").Schemas["CreateShareRequest"]} ShareFields */

/** @returns {Promise<Share[]>} */
export const listShares = async () => (await call("GET", "/analytics/shares")).shares;

/**
 * The new share, and the address of its page.
 * @param {ShareFields} body
 * @param {string} idempotencyKey
 * @returns {Promise<{share: Share, address: string}>}
 */
export const createShare = (body, idempotencyKey) => call("POST", "/analytics/shares", { body, idempotencyKey });

/** @param {string} id */
export const deleteShare = id => call("DELETE", `/analytics/shares/${id}`);
