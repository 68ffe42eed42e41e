/** The endpoints of saved views. */
import { call } from "./api.js";

/** @typedef {import("./endpoints.js").Schemas["SavedView"]} SavedView */
/** @typedef {Pick<SavedView, "filters" | "report">} Kept what a view keeps: filters of the list of links, or a report */
/** @typedef {{name: string} & Kept} Content */

/** @returns {Promise<SavedView[]>} */
export const listViews = async () => (await call("GET", "/views")).views;

/**
 * @param {Content} view
 * @param {string} [idempotencyKey]
 */
export const createView = ({ name, filters, report }, idempotencyKey) =>
    call("POST", "/views", { body: { name, filters, report }, idempotencyKey });

/**
 * @param {string} id
 * @param {Partial<Content>} changes
 */
export const changeView = (id, changes) => call("PATCH", `/views/${id}`, { body: changes });

/** @param {string} id */
export const deleteView = id => call("DELETE", `/views/${id}`);
