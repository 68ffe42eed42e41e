/** The filters of a report. The address has them as the API does: a parameter for each dimension, with its values. */

/** @typedef {typeof DIMENSIONS[number]} Dimension */
/** @typedef {{dimension: Dimension, value: string, isExcluded: boolean}} Filter */

/** The names of the API, in the order of the panels. */
export const DIMENSIONS = /** @type {const} */ ([
    ...["channel", "referrer", "utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent"],
    ...["country", "continent", "region", "city", "browser", "device", "os", "language", "branch", "kind"],
]);

/** The value of links and clicks without one. The API calls it `none`; a backslash makes that a value. */
export const UNSET = "";
const NONE = "none";

/**
 * The values of a parameter. A backslash lets a value contain a comma, or begin with a hyphen, which excludes it.
 * @param {string} text
 * @returns {{value: string, isExcluded: boolean}[]}
 */
export function valuesOf(text) {
    if (text === "") return [];
    const parts = text.match(/(?:\\.|[^,\\])+/gs) ?? [];
    return parts.map(part => {
        const isExcluded = part.startsWith("-");
        const shown = part.slice(isExcluded ? 1 : 0);
        return { value: shown === NONE ? UNSET : shown.replace(/\\(.)/gs, "$1"), isExcluded };
    });
}

/** @param {readonly {value: string, isExcluded: boolean}[]} values */
export const textOf = values =>
    values.map(({ value, isExcluded }) => (isExcluded ? "-" : "") + (value === UNSET ? NONE : value.replace(/[\\,]|^-|^none$/g, "\\$&"))).join(",");

/**
 * The filters of an address.
 * @param {URLSearchParams} query
 * @returns {Filter[]}
 */
export const filtersOf = query =>
    DIMENSIONS.flatMap(dimension => valuesOf(query.get(dimension) ?? "").map(value => ({ dimension, ...value })));

/**
 * The change of an address that sets filters of one dimension, each once.
 * @param {Dimension} dimension
 * @param {readonly {value: string, isExcluded: boolean}[]} values
 * @returns {Record<string, string | null>}
 */
const changeTo = (dimension, values) => ({ [dimension]: values.length > 0 ? textOf(values) : null });

/**
 * The change that adds values, or moves them between included and excluded.
 * @param {URLSearchParams} query
 * @param {Dimension} dimension
 * @param {readonly string[]} values
 * @param {boolean} isExcluded
 */
export function adding(query, dimension, values, isExcluded) {
    const others = valuesOf(query.get(dimension) ?? "").filter(({ value }) => !values.includes(value));
    return changeTo(dimension, [...others, ...values.map(value => ({ value, isExcluded }))]);
}

/**
 * The change that removes values.
 * @param {URLSearchParams} query
 * @param {Dimension} dimension
 * @param {readonly string[]} values
 */
export const removing = (query, dimension, values) =>
    changeTo(dimension, valuesOf(query.get(dimension) ?? "").filter(({ value }) => !values.includes(value)));

/** The change that removes every filter. @returns {Record<string, null>} */
export const removingAll = () => Object.fromEntries([...DIMENSIONS, ...SELECTION].map(name => [name, null]));

/** The parameters that select links of a workspace. */
export const SELECTION = /** @type {const} */ (["tags", "tagsMode", "excludeTags", "domainId", "urlIds", "creator"]);

/**
 * The filters as parameters of the API.
 * @param {URLSearchParams} query
 * @param {boolean} isOfLink whether the report is that of one link
 * @returns {Record<string, string>}
 */
export const parametersOf = (query, isOfLink) =>
    Object.fromEntries(
        [...DIMENSIONS, ...(isOfLink ? [] : SELECTION)].flatMap(name => {
            const text = query.get(name) ?? "";
            return text === "" ? [] : [[name, text]];
        }),
    );
