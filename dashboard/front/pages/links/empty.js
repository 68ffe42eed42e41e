/** Replaces an empty table: a link to the first steps, or a button that clears a search without hits. */
import { lacks } from "../../core/account.js";
import { html } from "../../core/html.js";
import { navigate } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { FirstLink } from "../start/first_link.js";
import { failure, isFiltered, rows, shown } from "./state.js";

export function Empty() {
    if (shown.value === null || rows.value.length > 0 || failure.value !== null) return null;
    if (isFiltered.value) {
        return html`<article>
            <p>${t("empty.noHits")}</p>
            <button class="secondary" onClick=${() => navigate("/dashboard/")}>${t("empty.clear")}</button>
        </article>`;
    }
    if (lacks("editor")) return html`<p>${t("empty.none")}</p>`;
    return html`<${FirstLink} />`;
}
