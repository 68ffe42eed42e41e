/** The endpoints of saved views. */
import { call } from "../../core/api.js";

/** @typedef {import("../../core/endpoints.js").Schemas["SavedView"]} SavedView */
/** @typedef {Pick<SavedView, "name" | "filters">} Content */

/** @returns {Promise<SavedView[]>} */
export const listViews = async () => (await call("GET", "/views")).views;

/**
 * @param {Content} view
 * @param {string} [idempotencyKey]
 */
export const createView = ({ name, filters }, idempotencyKey) =>
    call("POST", "/views", { body: { name, filters }, idempotencyKey });

/**
 * @param {string} id
 * @param {Partial<Content>} changes
 */
export const changeView = (id, changes) => call("PATCH", `/views/${id}`, { body: changes });

/** @param {string} id */
export const deleteView = id => call("DELETE", `/views/${id}`);
