/** The report of a link. */
import { copy } from "../../core/clipboard.js";
import { html, useEffect, useMemo, useSignalEffect } from "../../core/html.js";
import { query } from "../../core/router.js";
import { loadStyle } from "../../core/styles.js";
import { serviceName, t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { Controls } from "./controls.js";
import { Figures } from "./figures.js";
import { periodOf } from "./period.js";
import { repeatWhileVisible } from "./refreshing.js";
import { Report } from "./report.js";

await loadStyle("pages/report/report.css");

/** @param {{id: string}} properties */
export function Page({ id }) {
    const report = useMemo(() => new Report(id), []);
    const repeating = useMemo(() => ({ now: () => {}, stop: () => {} }), []);
    useEffect(() => {
        document.title = `${t("report.title")} · ${serviceName()}`;
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
    const hasFailed = report.failure.value !== null;
    // The name of the link can have several lines, so what is below it waits for it.
    const isKnown = report.link.value !== null || hasFailed;
    return html`
        <${Heading} report=${report} />
        ${hasFailed && html`<p role="alert" class="failure">${report.failure.value}</p>`}
        ${isKnown
            ? html`
                  <div class="report">
                      <${Controls} period=${period} />
                      ${figures === null && !hasFailed && html`<${Loading} />`}
                      ${figures !== null && html`<${Figures} report=${report} figures=${figures} isCurrent=${isCurrent} />`}
                  </div>
              `
            : html`<${Loading} />`}
    `;
}

const Loading = () => html`<p aria-busy="true">${t("page.loading")}</p>`;

/** @param {{report: Report}} properties */
function Heading({ report }) {
    const link = report.link.value;
    return html`
        <div class="heading report-heading">
            <h1 dir="auto">${link === null ? t("report.title") : t("report.of", { name: link.title || link.shortUrl })}</h1>
            <a role="button" class="outline" href=${`/dashboard/links/${report.id}`}>${t("editor.edit")}</a>
        </div>
        ${link !== null &&
        html`
            <p class="summary">
                <a href=${link.shortUrl} target="_blank" rel="noopener noreferrer">${link.shortUrl}</a>
                <button class="copy outline secondary" onClick=${() => copy(link.shortUrl)}>${t("links.copyShort")}</button>
            </p>
        `}
    `;
}
