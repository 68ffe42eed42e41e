/** Lists as the address and the API have them in one text. */

/** @param {string} text separated by commas; after a backslash, a comma is a part of a value */
export const listOf = text =>
    (text.match(/(?:\\[\\,]|[^,])+/g) ?? []).map(part => part.replace(/\\([\\,])/g, "$1").trim()).filter(part => part !== "");

/** What `listOf` reads. @param {readonly string[]} values */
export const textOfList = values => values.map(value => value.replace(/[\\,]/g, "\\$&")).join(",");
