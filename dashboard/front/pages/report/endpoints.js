/** The endpoints of the reports of a link. */
import { call } from "../../core/api.js";

/** @typedef {import("../../types/api.js").paths} Paths */
/** @typedef {Paths["/api/analytics/{urlId}"]["get"]} OverviewOperation */
/** @typedef {NonNullable<OverviewOperation["parameters"]["query"]>} OverviewQuery */
/** @typedef {OverviewOperation["responses"][200]["content"]["application/json"]["data"]} OverviewOfLink */
/** @typedef {Paths["/api/analytics"]["get"]} WorkspaceOperation */
/** @typedef {WorkspaceOperation["responses"][200]["content"]["application/json"]["data"]} OverviewOfWorkspace */
/**
 * The figures that all reports have, with those that only one kind has.
 * @typedef {Omit<OverviewOfLink, "branches"> & Partial<Pick<OverviewOfLink, "branches">> & Partial<Omit<OverviewOfWorkspace, keyof OverviewOfLink>>} Overview
 */
/** @typedef {OverviewOfWorkspace["topUrls"][number]} TopUrl */
/** @typedef {NonNullable<WorkspaceOperation["parameters"]["query"]>} WorkspaceQuery */
/** @typedef {Paths["/api/analytics/{urlId}/devices"]["get"]} DevicesOperation */
/** @typedef {NonNullable<DevicesOperation["parameters"]["query"]>} ReportQuery */
/** @typedef {DevicesOperation["responses"][200]["content"]["application/json"]["data"]} Devices */
/** @typedef {Paths["/api/analytics/{urlId}/geographic"]["get"]["responses"][200]["content"]["application/json"]["data"]} Places */
/** @typedef {Paths["/api/analytics/{urlId}/clicks"]["get"]} RequestsOperation */
/** @typedef {NonNullable<RequestsOperation["parameters"]["query"]>} RequestsQuery */
/** @typedef {RequestsOperation["responses"][200]["content"]["application/json"]["data"]} RequestPage */

/**
 * @param {string} id
 * @param {OverviewQuery} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<Overview>}
 */
export const readOverview = (id, query, signal) => call("GET", `/analytics/${id}`, { query, signal });

/**
 * @param {OverviewQuery} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<Overview>}
 */
export const readWorkspace = (query, signal) => call("GET", "/analytics", { query, signal });

/**
 * @param {string} id
 * @param {ReportQuery} query
 * @param {AbortSignal} signal
 * @returns {Promise<Devices>}
 */
export const readDevices = (id, query, signal) => call("GET", `/analytics/${id}/devices`, { query, signal });

/**
 * @param {string} id
 * @param {ReportQuery} query
 * @param {AbortSignal} signal
 * @returns {Promise<Places>}
 */
export const readPlaces = (id, query, signal) => call("GET", `/analytics/${id}/geographic`, { query, signal });

/**
 * The log of requests for a link, newest first.
 * @param {string} id
 * @param {RequestsQuery} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<RequestPage>}
 */
export const listRequests = (id, query, signal) => call("GET", `/analytics/${id}/clicks`, { query, signal });
