/** The endpoints of deleted links. */
import { call } from "../../core/api.js";

/** @typedef {import("../../core/endpoints.js").Schemas["RestorableUrl"]} RestorableUrl */
/** @typedef {import("../../core/endpoints.js").Paths["/api/urls/deleted"]["get"]["responses"][200]["content"]["application/json"]["data"]} DeletedPage */

/**
 * @param {{page: number, limit: number}} query
 * @returns {Promise<DeletedPage>}
 */
export const listDeleted = query => call("GET", "/urls/deleted", { query });

/** @param {string} id */
export const undelete = id => call("POST", `/urls/${id}/undelete`);
