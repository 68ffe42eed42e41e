/** The lines of a pasted list: an address each, with a title after a tab, as spreadsheets copy two columns. */
import { withScheme } from "../../core/addresses.js";
import { typedUtm } from "../../core/utm.js";

/** @typedef {import("../../core/api.js").FieldError} FieldError */
/** @typedef {{text: string, originalUrl: string, title: string}} Line */

/** As many as one call of the API creates. */
export const MOST_LINES = 1_000;

/**
 * @param {string} pasted
 * @returns {Line[]} those that are not empty
 */
export const linesOf = pasted =>
    pasted
        .split(/\r?\n/)
        .filter(text => text.trim() !== "")
        .map(text => {
            const [address, ...title] = text.trim().split("\t");
            return { text: text.trim(), originalUrl: withScheme(address), title: title.join(" ").trim() };
        });

/**
 * The body of the call. What is empty is left out.
 * @param {Line[]} lines
 * @param {{domainId: string, tags: string[], utmTemplateId: string, utm: Record<string, string>}} shared fields of each link
 */
export function bodyOf(lines, { domainId, tags, utmTemplateId, utm }) {
    const parameters = typedUtm(utm);
    const fields = {
        ...(domainId !== "" && { domainId }),
        ...(tags.length > 0 && { tags }),
        ...(utmTemplateId !== "" && { utmTemplateId }),
        ...(parameters && { utm: parameters }),
    };
    return { urls: lines.map(({ originalUrl, title }) => ({ originalUrl, ...(title !== "" && { title }), ...fields })) };
}

/** The fields that all lines share, and their parts. */
const SHARED = /^(domainId|tags|utm|utmTemplateId)(\.|$)/;

/**
 * What the API refused: at the fields that all lines share, once, and at the lines.
 * @param {readonly {success: boolean, index: number, errors: FieldError[], message: string}[]} results with messages in the language of the page
 */
export function refusalsOf(results) {
    /** @type {Map<string, FieldError>} */
    const shared = new Map();
    /** @type {{index: number, messages: string[]}[]} */
    const lines = [];
    for (const { success, index, errors, message } of results) {
        if (success) continue;
        const own = errors.filter(({ field }) => !SHARED.test(field));
        for (const error of errors) if (SHARED.test(error.field)) shared.set(error.field, error);
        if (errors.length === 0) lines.push({ index, messages: [message] });
        else if (own.length > 0) lines.push({ index, messages: own.map(error => error.message) });
    }
    return { shared: [...shared.values()], lines };
}
