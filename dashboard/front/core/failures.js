/** Messages of errors, unless a banner or a dialog already reports them. */
import { ApiError, NEEDS_CONFIRMATION, isAbort } from "./api.js";
import { SignedOut } from "./session.js";
import { toast } from "./toasts.js";

/**
 * The message of an error. Null if the page reports it already: the session has ended, the user has to confirm who they
 * are, or the call was aborted.
 * @param {unknown} error
 */
export function messageOf(error) {
    if (error instanceof SignedOut || isAbort(error)) return null;
    if (error instanceof ApiError && error.code === NEEDS_CONFIRMATION) return null;
    return error instanceof Error ? error.message : String(error);
}

/** @param {unknown} error */
export function report(error) {
    const message = messageOf(error);
    if (message !== null) toast(message, { kind: "failed" });
}

/**
 * The API's messages by field. `""` has the message that concerns no field.
 * @param {unknown} error
 * @returns {Record<string, string>}
 */
export function errorsByField(error) {
    if (error instanceof ApiError && error.errors.length > 0) {
        return Object.fromEntries(error.errors.map(({ field, message }) => [field, message]));
    }
    const message = messageOf(error);
    return message === null ? {} : { "": message };
}
