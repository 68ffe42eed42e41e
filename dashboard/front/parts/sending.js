/** One change that a form sends to the API: whether it is in progress, and the API's errors. */
import { ApiError } from "../core/api.js";
import { errorsByField } from "../core/failures.js";
import { signal } from "../core/html.js";
import { newKey } from "../core/idempotency.js";

export class Sending {
    isBusy = signal(false);
    /** The API's messages, by field. `""` has the message that concerns no field. */
    errors = signal(/** @type {Record<string, string>} */ ({}));

    /** For a change that creates something. If the outcome is unknown, the next attempt uses the same key. */
    idempotencyKey = newKey();

    /**
     * Returns whether the work succeeded. While it is in progress, further calls do nothing.
     * @param {() => Promise<void>} work
     */
    async run(work) {
        if (this.isBusy.value) return false;
        this.isBusy.value = true;
        this.errors.value = {};
        try {
            await work();
            this.idempotencyKey = newKey();
            return true;
        } catch (error) {
            if (error instanceof ApiError && error.status >= 400 && error.status < 500) this.idempotencyKey = newKey();
            this.errors.value = errorsByField(error);
            return false;
        } finally {
            this.isBusy.value = false;
        }
    }
}
