/** The clicks of each hour of the week, as a grid. */
import { number } from "../../core/format.js";
import { html, useEffect, useRef, useSignal } from "../../core/html.js";
import { language, t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { saveCsv } from "./csv.js";
import { toDate } from "./days.js";
import { useGroups } from "./grouped.js";
import { fileName } from "./report.js";

/** @typedef {{day: number, hour: number, clicks: number}} Cell `day`: from 0, Monday */

const [DAYS, HOURS, LEVELS] = [7, 24, 5];
const [SIZE, LABELS] = [20, 40];
// A Monday.
const FIRST = toDate("2024-01-01").getTime();

/**
 * All hours of the week in order. Those without clicks have none in the report.
 * @param {readonly {value: string, clicks: number}[]} groups such as `1-13`: Mondays from 13:00
 * @returns {Cell[]}
 */
export function cellsOf(groups) {
    const clicks = new Map(groups.map(group => [group.value, group.clicks]));
    return Array.from({ length: DAYS * HOURS }, (_, position) => {
        const [day, hour] = [Math.floor(position / HOURS), position % HOURS];
        return { day, hour, clicks: clicks.get(`${day + 1}-${hour}`) ?? 0 };
    });
}

/**
 * Its size does not depend on the clicks, so that nothing moves when they arrive.
 * @param {{groups: readonly {value: string, clicks: number}[] | null, problem: string | null, file: string}} properties `groups`: null until they are loaded
 */
function HeatMap({ groups, problem, file }) {
    const cells = cellsOf(groups ?? []);
    const busiest = cells.reduce((most, cell) => (cell.clicks > most.clicks ? cell : most));
    const days = new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" });
    const times = new Intl.DateTimeFormat(language, { weekday: "long", hour: "numeric", minute: "2-digit", timeZone: "UTC" });
    /** @param {{day: number, hour: number}} cell */
    const moment = ({ day, hour }) => FIRST + (24 * day + hour) * 3_600_000;
    /** @param {Cell} cell */
    const titleOf = cell => `${times.format(moment(cell))}: ${number(cell.clicks)}`;
    const summary = busiest.clicks === 0 ? t("report.nothing") : t("report.busiest", { time: times.format(moment(busiest)), count: busiest.clicks });
    const shown = problem ?? (groups === null ? "\u00a0" : summary);
    const download = () => saveCsv(file, [[t("report.weekday"), t("report.hour"), t("report.total.clicks")], ...cells.map(({ day, hour, clicks }) => [day + 1, hour, clicks])]);
    return html`
        <figure class="heat">
            <svg viewBox=${`0 0 ${LABELS + HOURS * SIZE} ${(DAYS + 1) * SIZE}`} role="img" aria-label=${`${t("report.heat")}. ${shown}`}>
                ${Array.from({ length: DAYS }, (_, day) => html`<text key=${day} x="0" y=${(day + 0.7) * SIZE}>${days.format(moment({ day, hour: 0 }))}</text>`)}
                ${[0, 6, 12, 18].map(hour => html`<text key=${`h${hour}`} x=${LABELS + hour * SIZE} y=${(DAYS + 0.7) * SIZE}>${hour}</text>`)}
                ${cells.map(
                    cell => html`
                        <rect
                            key=${`${cell.day}-${cell.hour}`}
                            x=${LABELS + cell.hour * SIZE + 1}
                            y=${cell.day * SIZE + 1}
                            width=${SIZE - 2}
                            height=${SIZE - 2}
                            rx="4"
                            data-level=${Math.ceil((LEVELS * cell.clicks) / Math.max(1, busiest.clicks))}
                        >
                            <title>${titleOf(cell)}</title>
                        </rect>
                    `,
                )}
            </svg>
            <figcaption class="muted" role=${problem === null ? undefined : "alert"}>${shown}</figcaption>
        </figure>
        <p class="actions table-actions">
            ${busiest.clicks > 0 &&
            html`<button class="quiet small-button" aria-label=${t("report.downloadOf", { title: t("report.heat") })} onClick=${download}><${Icon} name="download" />CSV</button>`}
        </p>
    `;
}

/** Loaded once it is in view. @param {{report: import("./report.js").Report, figures: import("./report.js").Figures}} properties */
export function Heat({ report, figures }) {
    const place = useRef(/** @type {HTMLElement | null} */ (null));
    const isSeen = useSignal(false);
    useEffect(() => {
        const observer = new IntersectionObserver(entries => {
            if (!entries.some(entry => entry.isIntersecting)) return;
            observer.disconnect();
            isSeen.value = true;
        });
        if (place.current !== null) observer.observe(place.current);
        return () => observer.disconnect();
    }, []);
    const { value, failure } = useGroups(report, figures, isSeen.value ? "weekdayHour" : null);
    return html`<div ref=${place}><${HeatMap} groups=${value} problem=${failure} file=${fileName(report, "hours")} /></div>`;
}
