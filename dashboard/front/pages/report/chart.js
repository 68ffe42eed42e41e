/** A chart of clicks over time. Screen readers read the table beside it instead. */
import { html, useEffect, useRef, useSignal } from "../../core/html.js";
import { theme as chosenTheme } from "../../core/preferences.js";
import { loadStyle } from "../../core/styles.js";
import { t } from "../../core/texts.js";
import { wordsOf } from "./annotations.js";

/** @typedef {import("./steps.js").Step} Step */
/** @typedef {typeof COLORS[number]} Color */
/** @typedef {{steps: Step[], marks: import("./annotations.js").Mark[], before: Step[] | null, shortName: (date: string) => string, longName: (date: string) => string}} Series */

/** The names of the colours; the style sheet gives each to an element beside the chart. */
const COLORS = /** @type {const} */ (["text", "grid", "clicks", "area", "unique", "before"]);

/** The columns that uPlot draws: positions, clicks, unique clicks, clicks of the period before.
 * @param {Series} series
 * @returns {import("../../vendor/uplot.mjs").default.AlignedData}
 */
const columnsOf = ({ steps, before }) => [
    steps.map((_, position) => position),
    steps.map(step => step.clicks),
    steps.map(step => step.uniqueClicks),
    steps.map((_, position) => before?.[position]?.clicks ?? null),
];

/** @param {{series: Series, title: string, onChoose: false | ((date: string) => void)}} properties */
export function Chart({ series, title, onChoose }) {
    const box = useRef(/** @type {HTMLElement | null} */ (null));
    const plot = useRef(/** @type {import("../../vendor/uplot.mjs").default | null} */ (null));
    const latest = useRef(series);
    const pointed = useSignal(/** @type {number | null} */ (null));
    const hasFailed = useSignal(false);
    latest.current = series;
    const chosen = chosenTheme.value;
    useEffect(() => plot.current?.redraw(), [chosen]);
    useEffect(() => {
        const closing = new AbortController();
        draw(closing.signal).catch(() => (hasFailed.value = true));
        return () => {
            closing.abort();
            plot.current?.destroy();
        };
    }, []);
    useEffect(() => plot.current?.setData(columnsOf(series)), [series]);

    // The table beside it has links for the keyboard.
    const choose = () => {
        const step = pointed.value === null ? undefined : series.steps[pointed.value];
        if (onChoose && step !== undefined) onChoose(step.date);
    };
    /** @param {AbortSignal} closed */
    async function draw(closed) {
        const [{ default: UPlot }, { optionsOf }] = await Promise.all([
            import("../../vendor/uplot.mjs"),
            import("./chart_options.js"),
            loadStyle("vendor/uplot.css"),
        ]);
        const element = box.current;
        if (closed.aborted || element === null) return;
        const options = optionsOf(element, {
            name: position => latest.current.shortName(latest.current.steps[position]?.date ?? ""),
            count: () => latest.current.steps.length,
            marks: () => latest.current.marks.map(({ position }) => position),
            onPoint: position => (pointed.value = position),
        });
        const drawn = new UPlot(options, columnsOf(latest.current), element);
        plot.current = drawn;
        const resizing = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: options.height }));
        resizing.observe(element);
        const theme = matchMedia("(prefers-color-scheme: dark)");
        const redraw = () => drawn.redraw();
        theme.addEventListener("change", redraw, { signal: closed });
        closed.addEventListener("abort", () => resizing.disconnect());
    }

    if (hasFailed.value) return html`<p role="alert" class="failure">${t("report.chartFailed")}</p>`;
    return html`
        <figure class="chart">
            <div hidden>${COLORS.map(name => html`<i key=${name} data-color=${name}></i>`)}</div>
            <div ref=${box} class="canvas" dir="ltr" role="img" aria-label=${title} data-divisible=${onChoose ? "true" : undefined} onClick=${choose}></div>
            <figcaption>
                <span data-series="clicks">${t("report.total.clicks")}</span>
                ${series.steps.some(step => step.uniqueClicks !== null) && html`<span data-series="unique">${t("report.total.unique")}</span>`}
                ${series.before !== null && html`<span data-series="before">${t("report.clicksBefore")}</span>`}
                <span class="pointed" aria-hidden="true">${described(series, pointed.value)}</span>
            </figcaption>
        </figure>
    `;
}

/**
 * @param {Series} series
 * @param {number | null} position
 */
function described({ steps, marks, longName }, position) {
    const step = position === null ? undefined : steps[position];
    if (step === undefined) return "";
    const { date, clicks, uniqueClicks } = step;
    const changes = marks.find(mark => mark.position === position)?.changes ?? [];
    const figures =
        uniqueClicks === null ? t("report.pointedClicks", { time: longName(date), clicks }) : t("report.pointed", { time: longName(date), clicks, unique: uniqueClicks });
    return [figures, ...new Set(changes.map(wordsOf))].join(" · ");
}
