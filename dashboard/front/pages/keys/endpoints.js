/** The endpoints of keys with scopes. */
import { call } from "../../core/api.js";

/** @typedef {import("../../types/api.js").components["schemas"]} Schemas */
/** @typedef {Schemas["Key"]} Key */
/** @typedef {Schemas["NewKey"]} NewKey */
/** @typedef {Schemas["Scope"]} Scope */
/** @typedef {Schemas["CreateKeyRequest"]} KeyFields */
/** @typedef {Schemas["TokenIssuer"]} Issuer */
/** @typedef {Schemas["RequestLogEntry"]} LogEntry */

const PAGE_LENGTH = 100;

/**
 * The newest keys, as many as this number of pages has.
 * @param {number} pages
 * @returns {Promise<{keys: Key[], hasMore: boolean}>}
 */
export async function listKeys(pages) {
    const listed = await listPages("/keys", pages);
    return { keys: listed.flatMap(page => page.keys), hasMore: listed[0].pagination.pages > pages };
}

/**
 * The newest token issuers, as many as this number of pages has.
 * @param {number} pages
 * @returns {Promise<{issuers: Issuer[], hasMore: boolean}>}
 */
export async function listIssuers(pages) {
    const listed = await listPages("/token-issuers", pages);
    return { issuers: listed.flatMap(page => page.issuers), hasMore: listed[0].pagination.pages > pages };
}

/**
 * @param {string} path
 * @param {number} pages
 * @returns {Promise<any[]>}
 */
function listPages(path, pages) {
    const numbers = Array.from({ length: pages }, (_, index) => index + 1);
    return Promise.all(numbers.map(page => call("GET", path, { query: { page, limit: PAGE_LENGTH } })));
}

/** @param {Schemas["CreateTokenIssuerRequest"]} body */
export const createIssuer = body => call("POST", "/token-issuers", { body });

/** @param {string} id */
export const deleteIssuer = id => call("DELETE", `/token-issuers/${id}`);

/**
 * @param {KeyFields} body
 * @returns {Promise<NewKey>}
 */
export const createKey = async body => (await call("POST", "/keys", { body })).key;

/**
 * @param {string} id
 * @param {Schemas["UpdateKeyRequest"]} body
 */
export const updateKey = (id, body) => call("PATCH", `/keys/${id}`, { body });

/**
 * @param {string} id
 * @param {number} graceSeconds how long the former key keeps working
 * @returns {Promise<NewKey>}
 */
export const rotateKey = async (id, graceSeconds) => (await call("POST", `/keys/${id}/rotate`, { body: { graceSeconds } })).key;

/** @param {string} id */
export const deleteKey = id => call("DELETE", `/keys/${id}`);

/**
 * The newest requests of keys, as many as this number of pages has.
 * @param {{key?: string, status?: string}} filters
 * @param {number} pages
 * @returns {Promise<{requests: LogEntry[], hasMore: boolean}>}
 */
export async function listRequests(filters, pages) {
    /** @type {LogEntry[]} */
    const requests = [];
    /** @type {string | null} */
    let cursor = null;
    for (let page = 0; page < pages && (page === 0 || cursor !== null); page++) {
        const query = { ...filters, limit: PAGE_LENGTH, ...(cursor === null ? {} : { cursor }) };
        const listed = await call("GET", "/requests", { query });
        requests.push(...listed.requests);
        cursor = listed.pagination.nextCursor;
    }
    return { requests, hasMore: cursor !== null };
}
