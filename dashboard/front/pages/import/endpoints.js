/** The endpoint that imports links. */
import { call } from "../../core/api.js";

/** @typedef {import("../../types/api.js").paths} Paths */
/** @typedef {Paths["/api/urls/import"]["post"]["responses"][200]["content"]["application/json"]["data"]} Imported */
/** @typedef {Imported["results"][number]} Result */
/** @typedef {Imported["format"]} Format */

/**
 * @param {{content: string, dryRun: boolean, format?: Format, domainId?: string, utmTemplateId?: string}} body
 * @param {string} [idempotencyKey]
 * @returns {Promise<Imported>}
 */
export const importLinks = (body, idempotencyKey) => call("POST", "/urls/import", { body, idempotencyKey });
