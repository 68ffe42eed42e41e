/** The endpoints of webhooks and of the messages to them. */
import { call } from "../../core/api.js";

/** @typedef {import("../../core/endpoints.js").Schemas} Schemas */
/** @typedef {Schemas["Webhook"]} Webhook */
/** @typedef {Schemas["Delivery"]} Delivery */
/** @typedef {Schemas["EventType"]} EventType */
/** @typedef {Schemas["WebhookFormat"]} Format */
/** @typedef {Schemas["CreateWebhookRequest"]} NewWebhook */
/** @typedef {Schemas["UpdateWebhookRequest"]} Changes */
/** @typedef {{webhook: Webhook, secret: string | null}} WithSecret */
/** @typedef {{deliveries: Delivery[], pagination: {limit: number, nextCursor: string | null}}} DeliveryPage */

/** @returns {Promise<Webhook[]>} */
export const listWebhooks = async () => (await call("GET", "/webhooks")).webhooks;

/**
 * @param {string} id
 * @returns {Promise<Webhook>}
 */
export const readWebhook = async id => (await call("GET", `/webhooks/${id}`)).webhook;

/**
 * @param {NewWebhook} body
 * @param {string} idempotencyKey
 * @returns {Promise<WithSecret>}
 */
export const createWebhook = (body, idempotencyKey) => call("POST", "/webhooks", { body, idempotencyKey });

/**
 * @param {string} id
 * @param {Changes} body
 */
export const changeWebhook = (id, body) => call("PATCH", `/webhooks/${id}`, { body });

/** @param {string} id */
export const deleteWebhook = id => call("DELETE", `/webhooks/${id}`);

/**
 * @param {string} id
 * @returns {Promise<WithSecret>}
 */
export const rotateSecret = id => call("POST", `/webhooks/${id}/rotate-secret`);

/** @param {string} id */
export const sendTest = id => call("POST", `/webhooks/${id}/test`, { body: {} });

/**
 * @param {string} id
 * @param {{cursor?: string, status?: string}} query
 * @returns {Promise<DeliveryPage>}
 */
export const listDeliveries = (id, query) => call("GET", `/webhooks/${id}/deliveries`, { query });

/**
 * @param {string} id
 * @param {string} deliveryId
 */
export const resend = (id, deliveryId) => call("POST", `/webhooks/${id}/deliveries/${deliveryId}/resend`);

/**
 * @param {string} id
 * @param {Schemas["ReplayEventsRequest"]} body
 */
export const replay = (id, body) => call("POST", `/webhooks/${id}/replay`, { body });
