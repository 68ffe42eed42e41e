/** Readable names of the browser and the system in a User-Agent. */

/** @type {[string, RegExp][]} the first that matches; many browsers also name those they descend from */
const BROWSERS = [
    ["Edge", /\bEdgA?\//],
    ["Opera", /\bOPR\//],
    ["Firefox", /\b(Firefox|FxiOS)\//],
    ["Chrome", /\b(Chrome|CriOS)\//],
    ["Safari", /\bSafari\//],
];
/** @type {[string, RegExp][]} */
const SYSTEMS = [
    ["Android", /Android/],
    ["iOS", /iPhone|iPad/],
    ["Windows", /Windows/],
    ["macOS", /Macintosh/],
    ["Linux", /Linux/],
];

/**
 * Empty if it is not a browser.
 * @param {string} userAgent
 */
export function nameOfBrowser(userAgent) {
    const names = [BROWSERS, SYSTEMS].map(known => known.find(([, pattern]) => pattern.test(userAgent))?.[0]);
    return names.filter(Boolean).join(", ");
}
