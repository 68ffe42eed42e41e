/** The endpoints of the history. */
import { call } from "../../core/api.js";

/** @typedef {import("../../types/api.js").components["schemas"]["Change"]} Change */
/** @typedef {import("../../types/api.js").components["schemas"]["HistoryPagination"]} Pagination */
/** @typedef {NonNullable<import("../../types/api.js").paths["/api/audit"]["get"]["parameters"]["query"]>} AuditQuery */
/** @typedef {{changes: Change[], pagination: Pagination}} ChangePage */

/**
 * The changes in the workspace.
 * @param {AuditQuery} query
 * @returns {Promise<ChangePage>}
 */
export const listChanges = query => call("GET", "/audit", { query: { ...query } });

/**
 * @param {string} id of the link, which may be deleted
 * @param {{cursor?: string}} query
 * @returns {Promise<ChangePage>}
 */
export const listLinkChanges = (id, query) => call("GET", `/urls/${id}/history`, { query });

/** @param {Change} change */
export const restore = ({ objectId, _id }) => call("POST", `/urls/${objectId}/history/${_id}/restore`);

/** @param {Change} change its deletion */
export const undelete = ({ objectId }) => call("POST", `/urls/${objectId}/undelete`);
