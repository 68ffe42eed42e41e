/** The report of a link. */
import { ApiError } from "../../core/api.js";
import { copy } from "../../core/clipboard.js";
import { html, useEffect, useMemo, useSignalEffect } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { query } from "../../core/router.js";
import { loadStyle } from "../../core/styles.js";
import { t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { Failed } from "../../parts/failed.js";
import { Head } from "../../parts/head.js";
import { Icon } from "../../parts/icon.js";
import { Missing } from "../../parts/missing.js";
import { Sign } from "../../parts/sign.js";
import { Controls } from "./controls.js";
import { Figures, Freshness } from "./figures.js";
import { periodOf } from "./period.js";
import { repeatWhileVisible } from "./refreshing.js";
import { Report } from "./report.js";

await loadStyle("pages/report/report.css");

/** @param {{id: string}} properties */
export function Page({ id }) {
    const report = useMemo(() => new Report(id), []);
    const repeating = useMemo(() => ({ now: () => {}, stop: () => {} }), []);
    useEffect(() => {
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
    const error = report.error.value;
    const isGone = error instanceof ApiError && error.status === 404;
    const hasFailed = report.failure.value !== null;
    // The name of the link can have several lines, so what is below it waits for it.
    const isKnown = report.link.value !== null || hasFailed;
    return html`
        <${Heading} report=${report} />
        ${isGone && html`<${Missing} isGone message=${null} history=${id} onRetry=${() => repeating.now()} />`}
        ${hasFailed && !isGone && html`<div class="problem"><${Failed} message=${report.failure.value} onRetry=${() => repeating.now()} /></div>`}
        ${isKnown && !isGone
            ? html`
                  <div class="report">
                      <div class="period">
                          <${Controls} period=${period} />
                          ${figures === null ? html`<p class="freshness"></p>` : html`<${Freshness} report=${report} isLive=${figures.period.isLive} />`}
                      </div>
                      ${figures === null && !hasFailed && html`<${Loading} />`}
                      ${figures !== null && html`<${Figures} report=${report} figures=${figures} isCurrent=${isCurrent} />`}
                  </div>
              `
            : !isGone && html`<${Loading} />`}
    `;
}

const Loading = () => html`<div class="body"><p aria-busy="true">${t("page.loading")}</p></div>`;

/** @param {{report: Report}} properties */
function Heading({ report }) {
    const link = report.link.value;
    const name = link === null ? "" : withoutScheme(link.shortUrl);
    return html`
        <${Head}
            title=${t("report.title")}
            shown=${link === null ? t("report.title") : t("report.of", { name: link.title || name })}
            back=${{ address: `/dashboard/links/${report.id}`, label: t("history.back") }}
            mark=${link?.title && html`<${Sign} address=${link.shortUrl} isLink />`}
        >
            <button class="icon-button md" disabled=${link === null} aria-label=${t("links.copy", { name })} title=${t("links.copyShort")} onClick=${() => copy(link?.shortUrl ?? "")}>
                <${Icon} name="copy" />
            </button>
            <a role="button" href=${`/dashboard/links/${report.id}`} aria-label=${t("editor.edit")}><${Icon} name="pencil" /><span class="wide-only">${t("editor.edit")}</span></a>
        <//>
    `;
}
