/** The fields of the editor, and their conversion from and to the objects of the API. */
import { withScheme } from "../../core/addresses.js";
import { listOf, textOfList } from "../../core/lists.js";
import { UTM_KEYS } from "../../core/utm.js";
import { LINK_FIELDS, RESTRICTIONS } from "./fields.js";

/** @typedef {import("../../core/endpoints.js").Url} Url */
/** @typedef {import("../../core/endpoints.js").Schemas} Schemas */
/** @typedef {Schemas["RuleRequest"]} Rule */
/** @typedef {Schemas["VariantRequest"]} Variant */
/** @typedef {Schemas["ConditionRequest"]} Condition */

export const DEVICES = /** @type {const} */ (["desktop", "mobile", "tablet"]);
export const REFERRER_POLICIES = /** @type {const} */ (["no-referrer", "origin", "strict-origin-when-cross-origin"]);

/** @param {string} text */
const orNull = text => (text.trim() === "" ? null : text.trim());
/** @param {string} text */
const countOrNull = text => (text.trim() === "" ? null : Number(text));
/** @template T @param {T} value */
const asItIs = value => value;

/**
 * A field of the editor: its value in an empty editor, its value for a link, and what the API gets for it.
 * @template Input
 * @typedef {{empty: Input, read: (link: Url) => Input, send: (input: Input, fields: Record<string, any>) => unknown}} EditorField
 */

/**
 * @template Input
 * @param {Input} empty
 * @param {(link: Url) => Input} read
 * @param {(input: Input, fields: Record<string, any>) => unknown} [send]
 * @returns {EditorField<Input>}
 */
const field = (empty, read, send = asItIs) => ({ empty, read, send });

/** @typedef {(read: (link: Url) => any) => EditorField<any>} Input the input of one kind of field */

/** A text that may be missing. @type {Input} */
const text = read => field("", link => read(link) ?? "", orNull);

/** What the editor has for each kind of field, by its input. Lists and objects without one have fields of their own. */
const INPUTS = {
    text,
    url: text,
    choice: text,
    moment: text,
    /** A number that may be missing, as the text of its input. @type {Input} */
    count: read => field("", link => String(read(link) ?? ""), countOrNull),
    /** @type {Input} */
    flag: read => field(false, read),
    /** @type {Input} */
    list: read => field(/** @type {string[]} */ ([]), link => read(link) ?? []),
};

/** @type {Record<typeof UTM_KEYS[number], string>} */
const NO_UTM = { source: "", medium: "", campaign: "", term: "", content: "" };

/** @param {readonly {url: string}[]} rows with destinations as people type them */
const withSchemes = rows => rows.map(row => ({ ...row, url: withScheme(row.url) }));

/** The fields that are not only what their kind says. */
const OWN = {
    originalUrl: field("", link => link.originalUrl, withScheme),
    /** Where the link leads: the field shows it also if that is the original address, for which the API has null. */
    targetUrl: field(
        "",
        link => link.targetUrl || link.originalUrl,
        (input, { originalUrl }) => (withScheme(input) === originalUrl ? null : orNull(withScheme(input))),
    ),
    domainId: field("base", link => link.domainId),
    tags: field("", link => textOfList(link.tags), listOf),
    isActive: field(true, link => link.isActive),
    /** Of the next save only: the service does not store which template a link has. */
    utmTemplateId: field("", () => "", orNull),
    utm: field(
        NO_UTM,
        link => ({ ...NO_UTM, ...link.utm }),
        input => Object.fromEntries(UTM_KEYS.map(key => [key, orNull(input[key])])),
    ),
    redirectType: field("302", link => String(link.redirectType), Number),
    preview: field(
        { title: "", description: "", imageUrl: "" },
        ({ preview }) => ({
            title: preview?.title ?? "",
            description: preview?.description ?? "",
            imageUrl: preview?.imageUrl ?? "",
        }),
        input =>
            Object.values(input).every(part => part.trim() === "")
                ? null
                : Object.fromEntries(Object.entries(input).map(([key, part]) => [key, orNull(part)])),
    ),
    rules: field(/** @type {Rule[]} */ ([]), link => link.rules, withSchemes),
    split: field(/** @type {Variant[]} */ ([]), link => link.split, withSchemes),
};

/**
 * The fields of these names, as their kinds say.
 * @param {Readonly<Record<string, string>>} kinds by the names of the fields
 * @param {(link: Url) => object} parent the object that has the fields
 */
const byKind = (kinds, parent) =>
    Object.fromEntries(
        Object.entries(kinds)
            .filter(([name]) => !(name in OWN))
            .map(([name, kind]) => [
                name,
                INPUTS[/** @type {keyof typeof INPUTS} */ (kind)](link => Reflect.get(parent(link), name)),
            ]),
    );

/** Every field of a link but its password. @type {Record<string, EditorField<any>>} */
const FIELDS = { ...OWN, ...byKind(LINK_FIELDS, link => link), ...byKind(RESTRICTIONS, link => link.restrictions) };

/** @typedef {{text: string, url: string, choice: string, moment: string, count: string, flag: boolean, list: string[], json: never}} Inputs */
/** @template {Record<string, keyof Inputs>} Kinds @typedef {{[Name in Exclude<keyof Kinds, keyof typeof OWN>]: Inputs[Kinds[Name]]}} ByKind */
/** @typedef {{[Name in keyof typeof OWN]: typeof OWN[Name]["empty"]}} OwnFields */
/** @typedef {OwnFields & ByKind<typeof LINK_FIELDS> & ByKind<typeof RESTRICTIONS> & {password: string, removesPassword: boolean}} Fields */

// The API never returns a password.
const NO_PASSWORD = { password: "", removesPassword: false };

/**
 * A value for each field.
 * @param {(field: EditorField<any>, name: string) => unknown} valueOf
 * @returns {any}
 */
const ofEach = valueOf => Object.fromEntries(Object.entries(FIELDS).map(([name, each]) => [name, valueOf(each, name)]));

/**
 * The fields of an empty editor, most of them as texts, because inputs have texts.
 * @returns {Fields}
 */
export const emptyFields = () => ({ ...structuredClone(ofEach(({ empty }) => empty)), ...NO_PASSWORD });

/**
 * @param {Url} link
 * @returns {Fields}
 */
export const fieldsOf = link => ({ ...ofEach(({ read }) => read(link)), ...NO_PASSWORD });

/**
 * The fields of a new link that does what this one does, under a code of its own.
 * @param {Url} link
 * @returns {Partial<Fields>}
 */
export function copyOf(link) {
    const { targetUrl, ...fields } = fieldsOf(link);
    return { ...fields, originalUrl: targetUrl, customCode: "", isArchived: false };
}

/**
 * Every field as the API takes it, without the password.
 * @param {Fields} fields
 * @returns {Record<string, unknown>}
 */
function asSent(fields) {
    const sent = ofEach(({ send }, name) => send(Reflect.get(fields, name), fields));
    const restrictions = Object.fromEntries(Object.keys(RESTRICTIONS).map(name => [name, sent[name]]));
    for (const name of Object.keys(RESTRICTIONS)) delete sent[name];
    return { ...sent, restrictions };
}

/**
 * The fields that differ from `before`.
 * @param {Fields} fields
 * @param {Fields} before
 * @returns {Record<string, unknown>}
 */
export function changesOf(fields, before) {
    const old = new Map(Object.entries(asSent(before)));
    const changed = Object.entries(asSent(fields)).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(old.get(name)),
    );
    // A template completes the sent parameters, and only those.
    const utm = fields.utmTemplateId === "" ? {} : { utm: asSent(fields).utm };
    const password = fields.removesPassword ? { password: null } : fields.password ? { password: fields.password } : {};
    return { ...Object.fromEntries(changed), ...utm, ...password };
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
    const destination = withScheme(fields.targetUrl) || withScheme(fields.originalUrl);
    if (!/^https?:\/\//i.test(destination) || !URL.canParse(destination)) return null;
    const address = new URL(destination);
    for (const key of UTM_KEYS) {
        const value = fields.utm[key].trim();
        if (value !== "") address.searchParams.set(`utm_${key}`, value);
    }
    return address.href;
}
