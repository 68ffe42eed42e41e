/** The parameters of a campaign. */

export const UTM_KEYS = /** @type {const} */ (["source", "medium", "campaign", "term", "content"]);
/** @typedef {typeof UTM_KEYS[number]} UtmKey */

/**
 * The parameters with a value, trimmed. Undefined if there are none.
 * @param {Readonly<Record<string, string>>} utm as people type them
 * @returns {Record<string, string> | undefined}
 */
export function typedUtm(utm) {
    const typed = UTM_KEYS.map(key => [key, (utm[key] ?? "").trim()]).filter(([, value]) => value !== "");
    return typed.length > 0 ? Object.fromEntries(typed) : undefined;
}
