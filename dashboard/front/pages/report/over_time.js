/** Clicks and unique visitors over time, as a chart and as a table. */
import { html, useMemo, useSignal } from "../../core/html.js";
import { navigate, path } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { Annotations, marksOf } from "./annotations.js";
import { Chart } from "./chart.js";
import { addressWith } from "./controls.js";
import { DataTable } from "./data_table.js";
import { fileName } from "./report.js";
import { daysOfStep, namer, stepsOf } from "./steps.js";

// A month of days.
const MAX_ROWS = 31;

/** @param {{report: import("./report.js").Report, figures: import("./report.js").Figures}} properties */
export function OverTime({ report, figures }) {
    const changes = report.changes.value;
    const series = useMemo(() => seriesOf(figures, changes ?? []), [figures, changes]);
    const isOpen = useSignal(false);
    /** @param {string} date of a step, whose figures are a report of their own */
    const addressOf = date => {
        const days = daysOfStep(date, figures.period.interval, figures.period.days);
        return days === null ? null : addressWith({ range: "custom", interval: figures.period.interval === "day" ? "hour" : null, ...days });
    };
    const isDivisible = figures.period.interval !== "hour" && series.steps.length > 1;
    const title = t("report.overTime");
    return html`
        <section aria-label=${title}>
            <h2 class="visually-hidden">${title}</h2>
            <${Chart} series=${series} title=${title} onChoose=${isDivisible && ((/** @type {string} */ date) => navigate(addressOf(date) ?? path.value))} />
            ${report.id !== null && html`<${Annotations} link=${report.id} marks=${series.marks} />`}
            <div class="foot">
            <details onToggle=${(/** @type {any} */ event) => (isOpen.value = event.target.open)}>
                <summary>${t("report.asTable")}</summary>
                ${isOpen.value && html`<${StepTable} series=${series} file=${fileName(report, "clicks")} href=${isDivisible ? addressOf : undefined} />`}
            </details>
            ${figures.overview.uniqueClicks !== null && html`<p class="muted">${t("report.uniqueText")}</p>`}
            </div>
        </section>
    `;
}

/**
 * @param {import("./report.js").Figures} figures
 * @param {import("./annotations.js").Change[]} changes
 * @returns {import("./chart.js").Series}
 */
function seriesOf({ period, overview, before }, changes) {
    const { interval, zone } = period;
    const steps = stepsOf(overview.clicksByDate, interval);
    return {
        steps,
        marks: marksOf(changes, steps, period),
        before: before && stepsOf(before.clicksByDate, interval),
        shortName: namer(interval, zone, "short"),
        longName: namer(interval, zone, "long"),
    };
}

/** @param {{series: import("./chart.js").Series, file: string, href?: (date: string) => string | null}} properties */
function StepTable({ series: { steps, before, longName }, file, href }) {
    /** @type {import("./data_table.js").Column[]} */
    const columns = [
        { label: t("report.time"), show: longName },
        { label: t("report.total.clicks"), kind: "number" },
        { label: t("report.total.unique"), kind: "number" },
    ];
    const rows = steps.map(({ date, clicks, uniqueClicks }) => [date, clicks, uniqueClicks]);
    const compared = steps.map((_, position) => {
        const step = before?.[position];
        return step === undefined ? [null, null, null] : [step.date, step.clicks, step.uniqueClicks];
    });
    /** @type {import("./data_table.js").Column[]} */
    const comparedColumns = [
        { label: t("report.timeBefore"), show: longName },
        { label: t("report.clicksBefore"), kind: "number" },
        { label: t("report.uniqueBefore"), kind: "number" },
    ];
    return html`<${DataTable}
        title=${t("report.overTime")}
        file=${file}
        columns=${before === null ? columns : [...columns, ...comparedColumns]}
        rows=${before === null ? rows : rows.map((row, position) => [...row, ...compared[position]])}
        limit=${MAX_ROWS}
        href=${href}
    />`;
}