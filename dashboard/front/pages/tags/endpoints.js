/** The endpoints of tags and of their changes. */
import { call } from "../../core/api.js";

/** @typedef {import("../../core/endpoints.js").Schemas} Schemas */
/** @typedef {Schemas["Tag"]} Tag */
/** @typedef {Schemas["ListedTag"]} ListedTag */
/** @typedef {Schemas["TagChange"]} TagChange */
/** @typedef {import("../../core/endpoints.js").Paths["/api/tags"]["get"]["responses"][200]["content"]["application/json"]["data"]} TagPage */

/** A server decodes the path once, before it looks for slashes. @param {string} name */
const addressOf = name => `/tags/${encodeURIComponent(name).replaceAll("%2F", "%252F")}`;

/**
 * @param {{page: number, limit: number, search: string, period?: "30d"}} query
 * @returns {Promise<TagPage>}
 */
export const listTags = query => call("GET", "/tags", { query });

/**
 * @param {string} name
 * @param {Schemas["UpdateTagRequest"]} body
 * @returns {Promise<{tag: Tag, change: TagChange | null}>}
 */
export const changeTag = (name, body) => call("PATCH", addressOf(name), { body });

/**
 * @param {string} name
 * @returns {Promise<TagChange>}
 */
export const deleteTag = async name => (await call("DELETE", addressOf(name))).change;

/** @param {string} id */
export const undoTagChange = id => call("POST", `/tag-changes/${id}/undo`);
