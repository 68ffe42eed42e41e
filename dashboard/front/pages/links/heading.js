/** The title of the list, the export of the links that match the filters, and the ways to new and deleted links. */
import { account, may } from "../../core/account.js";
import { download } from "../../core/api.js";
import { report } from "../../core/failures.js";
import { html } from "../../core/html.js";
import { save } from "../../core/saving.js";
import { t } from "../../core/texts.js";
import { Head } from "../../parts/head.js";
import { Icon } from "../../parts/icon.js";
import { filters, isFiltered, parameters } from "./state.js";

/** The links that the list shows; without a filter all of them, because a backup is complete. */
async function exportShown() {
    const archived = isFiltered.value ? filters.value.archived || "no" : undefined;
    try {
        save(await download("GET", "/urls/export", { query: { format: "csv", ...parameters(), archived } }));
    } catch (error) {
        report(error);
    }
}

export const Heading = () => html`
    <${Head} title=${t("links.title")}>
        ${(account.value === null || may("editor")) &&
        html`<a role="button" class=${may("editor") ? undefined : "pending"} href="/dashboard/import" title=${t("import.title")}>
            <${Icon} name="upload" /><span class="wide-only">${t("nav.import")}</span>
        </a>`}
        <button onClick=${exportShown} title=${t("filters.export")} aria-label=${t("filters.export")}>
            <${Icon} name="download" /><span class="wide-only" aria-hidden="true">${t("filters.exportShort")}</span>
        </button>
        <a role="button" href="/dashboard/deleted" title=${t("deleted.title")} aria-label=${t("deleted.title")}>
            <${Icon} name="trash-2" /><span class="wide-only" aria-hidden="true">${t("deleted.short")}</span>
        </a>
    <//>
`;
