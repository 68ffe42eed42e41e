/** The title of the list, the export of the links that match the filters, and the way to a new link. */
import { account, may } from "../../core/account.js";
import { download } from "../../core/api.js";
import { report } from "../../core/failures.js";
import { html } from "../../core/html.js";
import { save } from "../../core/saving.js";
import { t } from "../../core/texts.js";
import { parameters } from "./state.js";

async function exportShown() {
    try {
        save(await download("GET", "/urls/export", { query: { format: "csv", ...parameters() } }));
    } catch (error) {
        report(error);
    }
}

export const Heading = () => html`
    <div class="heading">
        <h1>${t("links.title")}</h1>
        <div class="actions">
            <button class="outline secondary" onClick=${exportShown}>${t("filters.export")}</button>
            ${(account.value === null || may("editor")) &&
            html`<a role="button" class=${may("editor") ? undefined : "pending"} href="/dashboard/new">${t("nav.new")}</a>`}
        </div>
    </div>
`;
