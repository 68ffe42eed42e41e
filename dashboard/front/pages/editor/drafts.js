/** The draft of a link: the unsaved input, and the version that it is based on. It has no passwords. */
import { dropDraft, keepDraft as keep, readDraft as read } from "../../core/drafts.js";
import { typedFields } from "./model.js";

/** @typedef {import("./model.js").Fields} Fields */
/** @typedef {{typed: Partial<Fields>, before?: Fields, version?: string}} Draft */

/**
 * @param {string} name of the draft
 * @param {Fields} fields
 * @param {Fields} before
 * @param {string} [version] that has the fields of `before`
 */
export function keepDraft(name, fields, before, version) {
    const { password, ...typed } = typedFields(fields, before);
    if (Object.keys(typed).length === 0) dropDraft(name);
    else keep(name, { typed, before, version });
}

/**
 * @param {string} name
 * @returns {Draft | null}
 */
export const readDraft = name => read(name);

export { dropDraft };
