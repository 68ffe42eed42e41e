/** The report of the workspace: all its links, or those of a campaign. */
import { html, useEffect, useMemo } from "../../core/html.js";
import { loadStyle } from "../../core/styles.js";
import { loadTags } from "../../core/tags.js";
import { t } from "../../core/texts.js";
import { Head } from "../../parts/head.js";
import { SavedViews } from "../../parts/saved_views.js";
import { Body, useFigures } from "../report/body.js";
import { Report } from "../report/report.js";
import { ShareButton } from "../report/share_button.js";
import { CAMPAIGNS } from "./campaigns.js";

await loadStyle("pages/report/report.css");

export function Page() {
    const report = useMemo(() => new Report(null), []);
    const retry = useFigures(report);
    useEffect(() => {
        loadTags();
    }, []);
    return html`
        <${Head} title=${t("analytics.title")}><${ShareButton} urlId=${null} /><//>
        <${SavedViews} of=${CAMPAIGNS} />
        <${Body} report=${report} onRetry=${retry} />
    `;
}
