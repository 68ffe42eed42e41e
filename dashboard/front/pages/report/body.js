/** What the reports of a link and of a workspace have in common: the period, the filters, and the figures, which stay current. */
import { ApiError } from "../../core/api.js";
import { html, useEffect, useMemo, useSignalEffect } from "../../core/html.js";
import { navigate, path, query } from "../../core/router.js";
import { t, valueText } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { Failed } from "../../parts/failed.js";
import { Icon } from "../../parts/icon.js";
import { Skeleton } from "../../parts/skeleton.js";
import { Controls, addressWith } from "./controls.js";
import { addDays, today } from "./days.js";
import { Downloads } from "./downloads.js";
import { FilterBar, filterBy } from "./filter_bar.js";
import { Figures, Freshness } from "./figures.js";
import { filtersOf, removing, removingAll } from "./filters.js";
import { inOwnNames, periodOf } from "./period.js";
import { repeatWhileVisible } from "./refreshing.js";

/** @typedef {import("./report.js").Report} Report */

/**
 * Loads the figures, and again after every change of the choice. Returns the function that does it now.
 * @param {Report} report
 */
export function useFigures(report) {
    const repeating = useMemo(() => ({ now: () => {}, stop: () => {} }), []);
    useSignalEffect(() => {
        const own = inOwnNames(query.value);
        if (own !== null) navigate(`${path.peek()}?${own}`, { replace: true });
    });
    useEffect(() => {
        Object.assign(repeating, repeatWhileVisible(aborted => report.refresh(aborted), report.pause));
        return () => repeating.stop();
    }, []);
    useSignalEffect(() => {
        // A change of the choice, or the return of the service, loads the figures.
        void query.value;
        void recoveries.value;
        void report.kind.value;
        repeating.now();
    });
    return () => repeating.now();
}

/** @param {{report: Report, onRetry: () => void}} properties */
export function Body({ report, onRetry }) {
    const figures = report.figures.value;
    const error = report.error.value;
    const refused = error instanceof ApiError && error.status === 400 ? error : null;
    const hasFailed = report.failure.value !== null;
    return html`
        ${hasFailed && refused === null && html`<div class="problem"><${Failed} message=${report.failure.value} onRetry=${onRetry} /></div>`}
        <div class="report">
            <div class="period"><${Controls} period=${periodOf(query.value)} /></div>
            <${FilterBar} report=${report}>
                ${figures === null ? html`<p class="freshness"></p>` : html`<${Freshness} report=${report} isLive=${figures.period.isLive} />`}
                <${Downloads} report=${report} figures=${figures} part="report" />
            <//>
            ${figures === null && !hasFailed && html`<${Skeleton} shape="figures" count=${5} />`}
            ${refused !== null && html`<${Refused} error=${refused} />`}
            ${figures !== null && refused === null && html`<${Figures} report=${report} figures=${figures} isCurrent=${report.isCurrent} />`}
        </div>
    `;
}

/**
 * In the place of figures that the API does not give: why, and what works instead.
 * @param {{error: ApiError}} properties
 */
function Refused({ error }) {
    const filters = filtersOf(query.value);
    const last = filters.at(-1);
    return html`
        <div class="blank refused">
            <${Icon} name="triangle-alert" />
            <p role="alert">${error.errors.length > 0 ? error.errors.map(({ message }) => message).join(" ") : error.message}</p>
            <div class="actions">
                ${error.errors.some(({ code }) => code === "range_too_large") && html`<${Shorter} ...${error.data} />`}
                ${filters.length > 1 && last && html`<button onClick=${() => filterBy(removing(query.value, last.dimension, [last.value]))}>${t("filters.remove", { filter: t(`dimension.${last.dimension}`) })}</button>`}
                ${filters.length > 0 && html`<button onClick=${() => filterBy(removingAll())}>${t("filters.clearAll")}</button>`}
            </div>
        </div>
    `;
}

/**
 * The longest range that the API offers instead, if it does.
 * @param {{reason: string, days?: number, since?: string}} data
 */
function Shorter({ reason, days, since }) {
    const { zone } = periodOf(query.value);
    const start = since ?? (days === undefined ? null : addDays(today(zone), 1 - days));
    if (reason === "only_totals" || (start !== null && start > today(zone))) return null;
    const label = since ? t("report.range.since", { day: valueText(since) }) : t("report.range.days", { count: days ?? 7 });
    return html`<a role="button" href=${addressWith({ range: start === null ? "7d" : "custom", start, end: null, interval: null })}>${label}</a>`;
}
