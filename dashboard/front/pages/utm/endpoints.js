/** The endpoints of UTM templates. */
import { call } from "../../core/api.js";

/** @typedef {import("../../core/endpoints.js").Schemas["UtmTemplate"]} UtmTemplate */
/** @typedef {{name: string, values: Record<string, string>, allowedValues: Record<string, string[]>}} Content */

/** @returns {Promise<UtmTemplate[]>} */
export const listTemplates = async () => (await call("GET", "/utm-templates")).templates;

/**
 * @param {Content} body
 * @param {string} idempotencyKey
 */
export const createTemplate = (body, idempotencyKey) => call("POST", "/utm-templates", { body, idempotencyKey });

/**
 * @param {string} id
 * @param {Content} body
 */
export const changeTemplate = (id, body) => call("PATCH", `/utm-templates/${id}`, { body });

/** @param {string} id */
export const deleteTemplate = id => call("DELETE", `/utm-templates/${id}`);
