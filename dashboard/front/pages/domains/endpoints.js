/** The endpoints for domains, with the types of the API's description. */
import { call } from "../../core/api.js";

/** @typedef {import("../../types/api.js").components["schemas"]} Schemas */
/** @typedef {Schemas["ListedDomain"]} ListedDomain */
/** @typedef {Schemas["DomainWithSettings"]} Domain */
/** @typedef {Schemas["DnsRecord"]} DnsRecord */
/** @typedef {Schemas["DomainSettingsRequest"]} Settings */

/**
 * The result of a failed verification for a record.
 * @typedef {{type: string, value: string}} Value
 * @typedef {{type: string, name: string, ok: boolean, found: string[], reason: string | null, advice: string | null, remove: Value[], add: Value[]}} Check
 */

/** @returns {Promise<ListedDomain[]>} */
export const listDomains = async () => (await call("GET", "/domains")).domains;

/**
 * @param {string} domain
 * @param {string} idempotencyKey
 * @returns {Promise<Schemas["Domain"]>}
 */
export const addDomain = async (domain, idempotencyKey) =>
    (await call("POST", "/domains", { body: { domain }, idempotencyKey })).domain;

/**
 * @param {string} id
 * @returns {Promise<Domain>}
 */
export const readDomain = async id => (await call("GET", `/domains/${id}`)).domain;

/** @param {string} id */
export const verifyDomain = id => call("POST", `/domains/${id}/verify`);

/**
 * @param {string} id
 * @param {Settings} changes
 * @returns {Promise<Domain>}
 */
export const changeDomain = async (id, changes) => (await call("PATCH", `/domains/${id}`, { body: changes })).domain;

/**
 * @param {string} id
 * @param {string} workspaceId
 * @returns {Promise<{links: number}>}
 */
export const moveDomain = (id, workspaceId) => call("POST", `/domains/${id}/move`, { body: { workspaceId } });

/** @typedef {Schemas["UnknownCode"]} UnknownCode */

/**
 * @param {string} id
 * @param {number} page
 * @returns {Promise<import("../../types/api.js").paths["/api/domains/{id}/unknown-codes"]["get"]["responses"][200]["content"]["application/json"]["data"]>}
 */
export const listUnknownCodes = (id, page) => call("GET", `/domains/${id}/unknown-codes`, { query: { page } });

/** @param {string} id */
export const deleteDomain = id => call("DELETE", `/domains/${id}`);
