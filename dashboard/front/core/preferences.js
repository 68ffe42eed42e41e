/** What the user chose in this browser: the theme, and the density of the list. `theme.js` applies it to the next page. */
import { signal } from "./html.js";

const THEME = "dashboard.theme";
const DENSITY = "dashboard.density";
const root = document.documentElement;

/** @typedef {"" | "light" | "dark"} Theme "": that of the system */
/** @typedef {"" | "compact"} Density "": two lines for each link */

export const theme = signal(/** @type {Theme} */ (root.dataset.theme ?? ""));
export const density = signal(/** @type {Density} */ (stored(DENSITY) === "compact" ? "compact" : ""));

/** @param {Theme} chosen */
export function chooseTheme(chosen) {
    theme.value = chosen;
    if (chosen === "") delete root.dataset.theme;
    else root.dataset.theme = chosen;
    store(THEME, chosen);
}

/** @param {Density} chosen */
export function chooseDensity(chosen) {
    density.value = chosen;
    store(DENSITY, chosen);
}

/** @param {string} name */
function stored(name) {
    try {
        return localStorage.getItem(name);
    } catch {
        // Browsers can be set to refuse all storage.
        return null;
    }
}

/**
 * @param {string} name
 * @param {string} chosen
 */
function store(name, chosen) {
    try {
        if (chosen === "") localStorage.removeItem(name);
        else localStorage.setItem(name, chosen);
    } catch {
        // Without storage, the choice lasts as long as the page.
    }
}
