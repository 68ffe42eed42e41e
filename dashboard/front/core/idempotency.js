/** A new value of Idempotency-Key: repeating a call with the same one is safe. */
export const newKey = () =>
    [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join("");
