/** The lines of a pasted list: an address each, with a title after a tab, as spreadsheets copy two columns. */
import { withScheme } from "../../core/addresses.js";
import { typedUtm } from "../../core/utm.js";

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
 * @param {{domainId: string, tags: string[], utm: Record<string, string>}} shared fields of each link
 */
export function bodyOf(lines, { domainId, tags, utm }) {
    const parameters = typedUtm(utm);
    const fields = {
        ...(domainId !== "" && { domainId }),
        ...(tags.length > 0 && { tags }),
        ...(parameters && { utm: parameters }),
    };
    return { urls: lines.map(({ originalUrl, title }) => ({ originalUrl, ...(title !== "" && { title }), ...fields })) };
}
