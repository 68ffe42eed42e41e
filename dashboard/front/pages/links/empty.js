/** Replaces an empty table: the first steps, or a button that clears a search without hits. */
import { lacks } from "../../core/account.js";
import { html } from "../../core/html.js";
import { navigate } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { FirstLink } from "../start/first_link.js";
import { change, failure, isShownFiltered, onlyArchived, rows, shown } from "./state.js";

export function Empty() {
    if (shown.value === null || rows.value.length > 0 || failure.value !== null) return null;
    if (isShownFiltered.value) {
        return html`<div class="blank">
            <${Icon} name="search-x" />
            <p>${t("empty.noHits")}</p>
            <button onClick=${() => navigate("/dashboard/")}>${t("empty.clear")}</button>
        </div>`;
    }
    if (onlyArchived.value > 0) {
        return html`<div class="blank">
            <${Icon} name="archive" />
            <p>${t("empty.archived", { count: onlyArchived.value })}</p>
            <button onClick=${() => change({ archived: "yes" })}>${t("empty.showArchived")}</button>
        </div>`;
    }
    if (lacks("editor")) return html`<div class="blank"><${Icon} name="link" /><p>${t("empty.none")}</p></div>`;
    return html`<${FirstLink} />`;
}
