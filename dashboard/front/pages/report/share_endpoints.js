/** The endpoints of shared reports. */
import { call } from "../../core/api.js";

/** @typedef {import("../../core/endpoints.js").Schemas["Share"]} Share */
/** @typedef {import("../../core/endpoints.js").Schemas["CreateShareRequest"]} ShareFields */

/** @returns {Promise<Share[]>} */
export const listShares = async () => (await call("GET", "/analytics/shares")).shares;

/**
 * The address of the new page.
 * @param {ShareFields} body
 * @param {string} idempotencyKey
 * @returns {Promise<string>}
 */
export const createShare = async (body, idempotencyKey) =>
    (await call("POST", "/analytics/shares", { body, idempotencyKey })).address;

/** @param {string} id */
export const deleteShare = id => call("DELETE", `/analytics/shares/${id}`);
