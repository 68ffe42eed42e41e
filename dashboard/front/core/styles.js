/** Style sheets of pages that are loaded when they are first shown. */

/** @type {Map<string, Promise<void>>} */
const loaded = new Map();

/**
 * Resolves once the style sheet applies, or if it cannot be loaded: the page is usable without it.
 * @param {string} name below the folder of the front end
 */
export function loadStyle(name) {
    const started = loaded.get(name) ?? load(name);
    loaded.set(name, started);
    return started;
}

/**
 * @param {string} name
 * @returns {Promise<void>}
 */
const load = name =>
    new Promise(resolve => {
        const link = document.createElement("link");
        link.rel = "stylesheet";
        link.href = new URL(`../${name}`, import.meta.url).href;
        link.addEventListener("load", () => resolve());
        link.addEventListener("error", () => resolve());
        document.head.append(link);
    });
