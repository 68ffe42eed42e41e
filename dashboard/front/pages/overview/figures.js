/** The figures of the period with their change, and its clicks over time. */
import { number } from "../../core/format.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { Chart } from "../report/chart.js";
import { changeOf } from "../report/names.js";
import { namer } from "../report/steps.js";

/** @typedef {import("./endpoints.js").Overview} Overview */

// A percentage of five digits says no more than the figure before.
const MOST_GROWTH = 10;

/** @param {{overview: Overview}} properties */
export function Figures({ overview }) {
    const { clicks, created, createdBefore, links } = overview;
    return html`
        <dl class="totals">
            ${clicks !== null &&
            html`
                <${Figure} name="clicks" days=${overview.days} label=${t("report.total.clicks")} now=${clicks.totalClicks} before=${clicks.compared.totalClicks} />
                <${Figure} name="unique" days=${overview.days} label=${t("report.total.unique")} now=${clicks.uniqueClicks} before=${clicks.compared.uniqueClicks} />
            `}
            <${Figure} name="created" days=${overview.days} label=${t("overview.created")} now=${created} before=${createdBefore} />
            <${Figure} name="links" label=${t("links.title")} now=${links} />
        </dl>
        ${clicks === null
            ? html`<p class="note in-page"><${Icon} name="info" /><span>${t("overview.tooLarge")}</span></p>`
            : html`<${OverTime} key=${overview.days} clicks=${clicks} />`}
    `;
}

/** @param {{name: string, label: string, now: number, before?: number, days?: number}} properties */
function Figure({ name, label, now, before, days = 0 }) {
    const isLegible = before !== undefined && now <= MOST_GROWTH * before;
    const change = isLegible ? changeOf(before, now) : null;
    const isUp = before !== undefined && now > before;
    return html`
        <div data-total=${name}>
            <dt>${label}</dt>
            <dd>
                <strong>${number(now)}</strong>
                ${before !== undefined &&
                html`<small>
                    ${change !== null && html`<span class="change" data-up=${isUp}>${change}</span>${" "}`}${t("overview.before", { count: before, days })}
                </small>`}
            </dd>
        </div>
    `;
}

/** @param {{clicks: import("./endpoints.js").Clicks}} properties */
function OverTime({ clicks }) {
    const isOpen = useSignal(false);
    const series = useMemo(
        () => ({
            steps: clicks.clicksByDate,
            marks: [],
            before: clicks.compared.clicksByDate,
            shortName: namer("day", "UTC", "short"),
            longName: namer("day", "UTC", "long"),
        }),
        [clicks],
    );
    const title = t("report.overTime");
    return html`
        <section aria-label=${title}>
            <h2 class="visually-hidden">${title}</h2>
            <${Chart} series=${series} title=${title} />
            ${clicks.importedClicks > 0 && html`<p class="muted">${t("report.imported", { count: clicks.importedClicks })}</p>`}
            <details onToggle=${(/** @type {any} */ event) => (isOpen.value = event.target.open)}>
                <summary>${t("report.asTable")}</summary>
                ${isOpen.value && html`<${Days} series=${series} title=${title} />`}
            </details>
        </section>
    `;
}

/** @param {{series: import("../report/chart.js").Series, title: string}} properties */
const Days = ({ series: { steps, before, longName }, title }) => html`
    <div class="overflow-auto" tabindex="0" role="group" aria-label=${title}>
        <table class="figures">
            <thead>
                <tr>
                    <th scope="col">${t("report.time")}</th>
                    <th scope="col" data-kind="number">${t("report.total.clicks")}</th>
                    <th scope="col" data-kind="number">${t("report.total.unique")}</th>
                    <th scope="col" data-kind="number">${t("report.clicksBefore")}</th>
                </tr>
            </thead>
            <tbody>
                ${steps.map(
                    ({ date, clicks, uniqueClicks }, position) => html`
                        <tr key=${date}>
                            <th scope="row">${longName(date)}</th>
                            <td data-kind="number">${number(clicks)}</td>
                            <td data-kind="number">${number(uniqueClicks ?? 0)}</td>
                            <td data-kind="number">${before === null ? "–" : number(before[position]?.clicks ?? 0)}</td>
                        </tr>
                    `,
                )}
            </tbody>
        </table>
    </div>
`;
