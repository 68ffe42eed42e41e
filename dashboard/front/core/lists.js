/** Lists as the address and the API have them in one text. */

/** @param {string} text separated by commas */
export const listOf = text => text.split(",").map(part => part.trim()).filter(part => part !== "");
