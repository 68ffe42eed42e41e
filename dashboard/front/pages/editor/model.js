/** The fields of the editor, and their conversion from and to the objects of the API. */
import { fromLocalInput, toLocalInput } from "../../core/format.js";

/** @typedef {import("../../core/endpoints.js").Url} Url */
/** @typedef {import("../../core/endpoints.js").Schemas} Schemas */
/** @typedef {Schemas["RuleRequest"]} Rule */
/** @typedef {Schemas["VariantRequest"]} Variant */
/** @typedef {Schemas["ConditionRequest"]} Condition */

export const UTM_KEYS = /** @type {const} */ (["source", "medium", "campaign", "term", "content"]);
export const DEVICES = /** @type {const} */ (["desktop", "mobile", "tablet"]);

/** The fields of an empty editor, as texts, because inputs have texts. */
export const emptyFields = () => ({
    originalUrl: "",
    targetUrl: "",
    domainId: "base",
    customCode: "",
    title: "",
    description: "",
    tags: "",
    isActive: true,
    startsAt: "",
    notStartedUrl: "",
    expiresAt: "",
    expiredUrl: "",
    password: "",
    removesPassword: false,
    maxClicks: "",
    maxClicksPerVisitor: "",
    allowedCountries: /** @type {string[]} */ ([]),
    blockedCountries: /** @type {string[]} */ ([]),
    allowedDevices: /** @type {string[]} */ ([]),
    utm: /** @type {Record<typeof UTM_KEYS[number], string>} */ ({
        source: "",
        medium: "",
        campaign: "",
        term: "",
        content: "",
    }),
    redirectType: "302",
    forwardQuery: false,
    rules: /** @type {Rule[]} */ ([]),
    split: /** @type {Variant[]} */ ([]),
});

/** @typedef {ReturnType<typeof emptyFields>} Fields */

/**
 * @param {Url} link
 * @returns {Fields}
 */
export const fieldsOf = link => ({
    originalUrl: link.originalUrl,
    targetUrl: link.targetUrl ?? "",
    domainId: link.domainId,
    customCode: link.customCode ?? "",
    title: link.title ?? "",
    description: link.description ?? "",
    tags: link.tags.join(", "),
    isActive: link.isActive,
    startsAt: toLocalInput(link.startsAt),
    notStartedUrl: link.notStartedUrl ?? "",
    expiresAt: toLocalInput(link.expiresAt),
    expiredUrl: link.expiredUrl ?? "",
    password: "",
    removesPassword: false,
    maxClicks: String(link.restrictions.maxClicks ?? ""),
    maxClicksPerVisitor: String(link.restrictions.maxClicksPerVisitor ?? ""),
    allowedCountries: link.restrictions.allowedCountries ?? [],
    blockedCountries: link.restrictions.blockedCountries ?? [],
    allowedDevices: link.restrictions.allowedDevices ?? [],
    utm: { ...emptyFields().utm, ...link.utm },
    redirectType: String(link.redirectType),
    forwardQuery: link.forwardQuery,
    rules: link.rules,
    split: link.split,
});

/** @param {string} text */
const orNull = text => (text.trim() === "" ? null : text.trim());
/** @param {string} text */
const countOrNull = text => (text.trim() === "" ? null : Number(text));
/** @param {string} text separated by commas */
export const listOf = text => text.split(",").map(part => part.trim()).filter(part => part !== "");

/**
 * Every field as the API takes it.
 * @param {Fields} fields
 */
function asSent(fields) {
    return {
        originalUrl: fields.originalUrl.trim(),
        domainId: fields.domainId,
        targetUrl: orNull(fields.targetUrl),
        customCode: orNull(fields.customCode),
        title: orNull(fields.title),
        description: orNull(fields.description),
        tags: listOf(fields.tags),
        isActive: fields.isActive,
        startsAt: fromLocalInput(fields.startsAt),
        notStartedUrl: orNull(fields.notStartedUrl),
        expiresAt: fromLocalInput(fields.expiresAt),
        expiredUrl: orNull(fields.expiredUrl),
        restrictions: {
            maxClicks: countOrNull(fields.maxClicks),
            maxClicksPerVisitor: countOrNull(fields.maxClicksPerVisitor),
            allowedCountries: fields.allowedCountries,
            blockedCountries: fields.blockedCountries,
            allowedDevices: fields.allowedDevices,
        },
        utm: Object.fromEntries(UTM_KEYS.map(key => [key, orNull(fields.utm[key])])),
        redirectType: Number(fields.redirectType),
        forwardQuery: fields.forwardQuery,
        rules: fields.rules,
        split: fields.split,
    };
}

/**
 * The fields that differ from `before`. Unchanged fields are not sent, because the inputs round times to minutes.
 * @param {Fields} fields
 * @param {Fields} before
 * @returns {Record<string, unknown>}
 */
export function changesOf(fields, before) {
    const old = new Map(Object.entries(asSent(before)));
    const changed = Object.entries(asSent(fields)).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(old.get(name)),
    );
    const password = fields.removesPassword ? { password: null } : fields.password ? { password: fields.password } : {};
    return { ...Object.fromEntries(changed), ...password };
}

/**
 * The fields whose inputs have changed.
 * @param {Fields} fields
 * @param {Fields} before
 * @returns {Partial<Fields>}
 */
export const typedFields = (fields, before) =>
    Object.fromEntries(
        Object.entries(fields).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(before, name))),
    );

/**
 * The destination with its utm parameters, before the fragment. Null while the address is incomplete.
 * @param {Fields} fields
 */
export function finalAddress(fields) {
    const text = fields.targetUrl.trim() || fields.originalUrl.trim();
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
    const address = new URL(text);
    for (const key of UTM_KEYS) {
        const value = fields.utm[key].trim();
        if (value !== "") address.searchParams.set(`utm_${key}`, value);
    }
    return address.href;
}
