/** One of twelve hues for a name, always the same: the tiles of links to one site, and a tag, are known by it. */

const HUES = 12;

/** @param {string} name */
export function hueOf(name) {
    let sum = 0;
    for (const character of name) sum = (31 * sum + (character.codePointAt(0) ?? 0)) % 65_521;
    return `h${sum % HUES}`;
}

/**
 * The host of an address, without `www.`. The address itself if it has none.
 * @param {string} address
 */
export function hostOf(address) {
    return URL.canParse(address) ? new URL(address).host.replace(/^www\./, "") : address;
}

/** @param {string} address */
export const withoutScheme = address => address.replace(/^https?:\/\//, "");
