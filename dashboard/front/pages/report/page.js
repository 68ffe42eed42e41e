/** The report of a link. */
import { copy } from "../../core/clipboard.js";
import { html, useEffect, useMemo, useSignalEffect } from "../../core/html.js";
import { query } from "../../core/router.js";
import { loadStyle } from "../../core/styles.js";
import { language, t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { BranchesSection } from "./branches.js";
import { Controls } from "./controls.js";
import { LedgerSection } from "./ledger.js";
import { OverTime } from "./over_time.js";
import { periodOf } from "./period.js";
import { PlacesSection } from "./places.js";
import { repeatWhileVisible } from "./refreshing.js";
import { Report } from "./report.js";
import { Totals } from "./totals.js";
import { AgentsSection, SourcesSection } from "./visitors.js";

await loadStyle("pages/report/report.css");

/** @param {{id: string}} properties */
export function Page({ id }) {
    const report = useMemo(() => new Report(id), []);
    const repeating = useMemo(() => ({ now: () => {}, stop: () => {} }), []);
    useEffect(() => {
        document.title = `${t("report.title")} · ${t("nav.name")}`;
        Object.assign(repeating, repeatWhileVisible(aborted => report.refresh(aborted)));
        return () => repeating.stop();
    }, []);
    useSignalEffect(() => {
        // A change of the choice, or the return of the service, loads the figures.
        void query.value;
        void recoveries.value;
        void report.kind.value;
        repeating.now();
    });
    const figures = report.figures.value;
    const period = periodOf(query.value);
    const isCurrent = JSON.stringify(figures?.period) === JSON.stringify(period);
    return html`
        <${Heading} report=${report} />
        ${report.failure.value !== null && html`<p role="alert" class="failure">${report.failure.value}</p>`}
        <div class="report">
            <${Controls} period=${period} />
            ${figures === null && report.failure.value === null && html`<p aria-busy="true">${t("page.loading")}</p>`}
            ${figures !== null &&
            html`
                <div aria-busy=${!isCurrent}>
                    <${Freshness} report=${report} isLive=${figures.period.isLive} />
                    <${Totals} overview=${figures.overview} before=${figures.before} />
                    <${OverTime} report=${report} figures=${figures} />
                    <${PlacesSection} report=${report} figures=${figures} />
                    <${AgentsSection} report=${report} figures=${figures} />
                    <${SourcesSection} report=${report} figures=${figures} />
                    <${BranchesSection} report=${report} figures=${figures} />
                    <${LedgerSection} report=${report} figures=${figures} />
                </div>
            `}
        </div>
    `;
}

/** @param {{report: Report}} properties */
function Heading({ report }) {
    const link = report.link.value;
    return html`
        <div class="heading report-heading">
            <h1 dir="auto">${link === null ? t("report.title") : t("report.of", { name: link.title || link.shortUrl })}</h1>
            <a role="button" class="outline" href=${`/dashboard/links/${report.id}`}>${t("editor.edit")}</a>
        </div>
        <p class="summary">
            ${link !== null &&
            html`
                <a href=${link.shortUrl} target="_blank" rel="noopener noreferrer">${link.shortUrl}</a>
                <button class="copy outline secondary" onClick=${() => copy(link.shortUrl)}>${t("links.copyShort")}</button>
            `}
        </p>
    `;
}

/** @param {{report: Report, isLive: boolean}} properties */
function Freshness({ report, isLive }) {
    const confirmed = report.confirmed.value;
    if (confirmed === null) return null;
    const time = confirmed.toLocaleTimeString(language);
    if (report.isLate.value) return html`<p class="freshness" data-state="late">${t("report.late", { time })}</p>`;
    return html`<p class="freshness" data-state=${isLive ? "live" : "still"}>
        ${t(isLive ? "report.live" : "report.still", { time })}
    </p>`;
}
