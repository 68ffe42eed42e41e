/** The endpoints that the dashboard uses, with the types of the API's description. */
import { call, readWithVersion } from "./api.js";

/** @typedef {import("../types/api.js").components["schemas"]} Schemas */
/** @typedef {import("../types/api.js").paths} Paths */
/** @typedef {Schemas["ListedUrl"]} ListedUrl */
/** @typedef {Schemas["Url"]} Url */
/** @typedef {Schemas["NewUrl"]} NewUrl */
/** @typedef {Schemas["CreateLinkRequest"]} CreateLinkRequest */
/** @typedef {Schemas["UpdateLinkRequest"]} UpdateLinkRequest */
/** @typedef {Schemas["SimulationRequest"]} SimulationRequest */
/** @typedef {NonNullable<Paths["/api/urls"]["get"]["parameters"]["query"]>} ListQuery */
/** @typedef {Paths["/api/urls"]["get"]["responses"][200]["content"]["application/json"]["data"]} LinkPage */
/** @typedef {Paths["/api/urls"]["post"]["responses"][201]["content"]["application/json"]["data"]} Created */
/** @typedef {Paths["/api/urls/{id}"]["get"]["responses"][200]["content"]["application/json"]["data"]} Whole */
/** @typedef {Paths["/api/urls/{id}/simulate"]["post"]["responses"][200]["content"]["application/json"]["data"]} Simulated */
/** @typedef {Paths["/api/urls/bulk-update"]["post"]["responses"][200]["content"]["application/json"]["data"]} BulkResult */
/** @typedef {Paths["/api/urls/move"]["post"]["responses"][200]["content"]["application/json"]["data"]} Moved */
/** @typedef {Paths["/api/urls/domains/available"]["get"]["responses"][200]["content"]["application/json"]["data"]["domains"]} Domains */

/**
 * @param {ListQuery} query
 * @param {AbortSignal} signal
 * @returns {Promise<LinkPage>}
 */
export const listLinks = (query, signal) => call("GET", "/urls", { query, signal });

/**
 * The clicks of each link on each of the last 30 days (UTC).
 * @param {string[]} ids
 * @param {AbortSignal} signal
 * @returns {Promise<Schemas["Sparkline"][]>}
 */
export const listSparklines = async (ids, signal) =>
    (await call("GET", "/analytics/sparklines", { query: { urlIds: ids.join(",") }, signal })).sparklines;

/**
 * @param {string} id
 * @returns {Promise<Url>}
 */
export const readLink = async id => (await call("GET", `/urls/${id}`)).url;

/** @typedef {{link: Url, version?: string}} LinkVersion */

/**
 * @param {string} id
 * @returns {Promise<LinkVersion>}
 */
export async function readLinkVersion(id) {
    const { data, version } = await readWithVersion(`/urls/${id}`);
    return { link: data.url, version };
}

/**
 * @param {CreateLinkRequest} body
 * @param {string} idempotencyKey
 * @returns {Promise<Created>}
 */
export const createLink = (body, idempotencyKey) => call("POST", "/urls", { body, idempotencyKey });

/** @typedef {Paths["/api/urls/bulk"]["post"]["responses"][200]["content"]["application/json"]["data"]} BulkCreated */

/**
 * @param {Schemas["BulkCreateRequest"]} body
 * @param {string} idempotencyKey
 * @returns {Promise<BulkCreated>}
 */
export const createLinks = (body, idempotencyKey) => call("POST", "/urls/bulk", { body, idempotencyKey });

/**
 * @param {string} id
 * @param {UpdateLinkRequest} body
 * @param {string} [ifMatch] the version that is updated
 */
export const updateLink = (id, body, ifMatch) => call("PUT", `/urls/${id}`, { body, ifMatch });

/**
 * @param {string[]} ids
 * @param {{keepalive?: boolean}} [options]
 */
export const deleteLinks = (ids, options) => call("POST", "/urls/bulk-delete", { body: { ids }, ...options });

/**
 * @param {Schemas["BulkUpdateRequest"]} body
 * @returns {Promise<BulkResult>}
 */
export const updateLinks = body => call("POST", "/urls/bulk-update", { body });

/**
 * @param {string[]} ids
 * @param {string} workspaceId
 * @returns {Promise<Moved>}
 */
export const moveLinks = (ids, workspaceId) => call("POST", "/urls/move", { body: { ids, workspaceId } });

/** @returns {Promise<Domains>} */
export const availableDomains = async () => (await call("GET", "/urls/domains/available")).domains;

/**
 * @param {string} id
 * @param {SimulationRequest} body
 * @returns {Promise<Simulated>}
 */
export const simulate = (id, body) => call("POST", `/urls/${id}/simulate`, { body });
