/** The endpoints of the reports of a link. */
import { call, download, repeatedRead } from "../../core/api.js";

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
/** @typedef {RequestsOperation["responses"][200]["content"]["application/json"]["data"]} PageOfLink */
/** @typedef {Paths["/api/analytics/clicks"]["get"]["responses"][200]["content"]["application/json"]["data"]["clicks"][number]} RequestOfWorkspace */
/** @typedef {PageOfLink["clicks"][number] & Partial<Pick<RequestOfWorkspace, "urlId" | "shortUrl">>} LoggedRequest the link only in a workspace's log */
/** @typedef {{clicks: LoggedRequest[], pagination: PageOfLink["pagination"]}} RequestPage */

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
 * For polling: a function that reads the overview of a link, or of the workspace.
 * @param {string | null} id
 */
export function overviewReader(id) {
    const read = repeatedRead();
    return (/** @type {OverviewQuery} */ query, /** @type {AbortSignal} */ signal) =>
        /** @type {Promise<Overview>} */ (read(pathOf(id), { query, signal }));
}

/** @param {string | null} id of a link; null: the workspace */
const pathOf = id => (id === null ? "/analytics" : `/analytics/${id}`);

/**
 * The log of requests for a link or the links of the workspace, newest first.
 * @param {string | null} id
 * @param {RequestsQuery} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<RequestPage>}
 */
export const listRequests = (id, query, signal) => call("GET", `${pathOf(id)}/clicks`, { query, signal });

/**
 * A report, or its log of requests, as a file.
 * @param {string | null} id
 * @param {"report" | "clicks"} part
 * @param {Record<string, string | number | undefined>} query
 */
export const readFile = (id, part, query) => download("GET", part === "clicks" ? `${pathOf(id)}/clicks` : pathOf(id), { query });
