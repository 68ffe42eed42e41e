/** What the user chose in this browser: the theme. `theme.js` applies it to the next page. */
import { signal } from "./html.js";

const THEME = "dashboard.theme";
const root = document.documentElement;

/** @typedef {"" | "light" | "dark"} Theme "": that of the system */

export const theme = signal(/** @type {Theme} */ (root.dataset.theme ?? ""));

/** @param {Theme} chosen */
export function chooseTheme(chosen) {
    theme.value = chosen;
    if (chosen === "") delete root.dataset.theme;
    else root.dataset.theme = chosen;
    try {
        if (chosen === "") localStorage.removeItem(THEME);
        else localStorage.setItem(THEME, chosen);
    } catch {
        // Without storage, the choice lasts as long as the page.
    }
}
