/** The endpoints of the account and its sessions. */
import { call, callForBody } from "../../core/api.js";

/** @typedef {import("../../types/api.js").components["schemas"]["Session"]} Session */

/** @returns {Promise<Session[]>} */
export const listSessions = async () => (await call("GET", "/auth/sessions")).sessions;

/** @param {string} id */
export const endSession = id => call("DELETE", `/auth/sessions/${id}`);

/** @returns {Promise<string | null>} null: the service cannot read it */
export const readApiKey = async () => (await callForBody("GET", "/auth/api-key")).apiKey;

/** @returns {Promise<string>} */
export const replaceApiKey = async () => (await callForBody("POST", "/auth/regenerate-api-key")).apiKey;

/** @typedef {import("../../types/api.js").components["schemas"]["ReportMails"]} ReportMails */

/** @returns {Promise<ReportMails>} */
export const readReportMails = async () => (await call("GET", "/analytics/report-mails")).reportMails;

/** @param {import("../../types/api.js").components["schemas"]["ReportMailsRequest"]} body */
export const chooseReportMails = body => call("PUT", "/analytics/report-mails", { body });
