/** The hours of a week, painted with the pointer or switched with the keyboard. */
import { once } from "../../core/format.js";
import { html, useRef, useSignal } from "../../core/html.js";
import { language, t } from "../../core/texts.js";
import { ownZone, useZones } from "../../core/zones.js";
import { DAYS, HOURS, hoursOf, schedulesOf, timeOf } from "./week.js";

/** @typedef {import("./week.js").Schedule} Schedule */

const OFFICE = { from: 9, until: 17, days: 5 };
const dayName = once(() => new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" }));
const longDayName = once(() => new Intl.DateTimeFormat(language, { weekday: "long", timeZone: "UTC" }));
/** @param {number} day from Monday */
const monday = day => Date.UTC(2024, 0, 1 + day);

/**
 * @param {object} properties
 * @param {string} properties.name
 * @param {readonly Schedule[]} properties.schedules
 * @param {string} [properties.error] of the API
 * @param {(schedules: Schedule[]) => void} properties.onChange
 */
export function WeekGrid({ name, schedules, error, onChange }) {
    const chosenZone = useSignal(schedules[0]?.timezone ?? ownZone);
    const zones = useZones(chosenZone.value);
    const focused = useSignal(OFFICE.from);
    const painting = useRef(/** @type {boolean | null} */ (null));
    const grid = useRef(/** @type {HTMLElement | null} */ (null));
    const hours = hoursOf(schedules);
    if (hours === null) {
        return html`<div class="week-words">
            <p dir="auto">${schedulesInWords(schedules)}</p>
            <button type="button" class="small-button" onClick=${() => onChange([])}>${t("week.anew")}</button>
        </div>`;
    }
    /** @param {readonly boolean[]} next */
    const set = next => onChange(schedulesOf(next, chosenZone.value));
    /** @param {number} at @param {boolean} isOn */
    const paint = (at, isOn) => {
        if (hours[at] !== isOn) set(hours.map((was, hour) => (hour === at ? isOn : was)));
    };
    /** @param {number} day */
    const switchDay = day => {
        const isOn = !hours.slice(day * HOURS, (day + 1) * HOURS).every(Boolean);
        set(hours.map((was, hour) => (Math.floor(hour / HOURS) === day ? isOn : was)));
    };
    const takeOfficeHours = () =>
        set(hours.map((_, at) => at < OFFICE.days * HOURS && at % HOURS >= OFFICE.from && at % HOURS < OFFICE.until));
    /** @param {PointerEvent} event */
    const cellUnder = event => {
        const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-hour]");
        return cell instanceof HTMLElement && grid.current?.contains(cell) ? Number(cell.dataset.hour) : null;
    };
    /** @param {PointerEvent} event */
    const begin = event => {
        const at = cellUnder(event);
        if (at === null || event.button !== 0) return;
        painting.current = !hours[at];
        focused.value = at;
        paint(at, painting.current);
    };
    /** @param {PointerEvent} event */
    const go = event => {
        const at = painting.current === null ? null : cellUnder(event);
        if (at !== null) paint(at, painting.current === true);
    };
    const end = () => (painting.current = null);
    /** @param {KeyboardEvent} event */
    const onKeyDown = event => {
        const isAcross = grid.current === null || !getComputedStyle(grid.current).gridAutoFlow.startsWith("column");
        const byHour = isAcross ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
        const byDay = isAcross ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
        const step = byHour.includes(event.key) ? byHour.indexOf(event.key) * 2 - 1 : byDay.includes(event.key) ? (byDay.indexOf(event.key) * 2 - 1) * HOURS : 0;
        if (step === 0) return;
        event.preventDefault();
        focused.value = (focused.value + step + hours.length) % hours.length;
        const next = grid.current?.querySelector(`[data-hour="${focused.value}"]`);
        if (next instanceof HTMLElement) next.focus();
    };
    /** @param {number} at */
    const label = at => `${longDayName().format(monday(Math.floor(at / HOURS)))} ${timeOf(at % HOURS)}`;
    return html`
        <div class="week-of">
            <div
                ref=${grid}
                class="week"
                role="group"
                aria-label=${t("week.label")}
                onPointerDown=${begin}
                onPointerMove=${go}
                onPointerUp=${end}
                onPointerLeave=${end}
                onKeyDown=${onKeyDown}
            >
                <span aria-hidden="true"></span>
                ${Array.from({ length: HOURS }, (_, hour) => html`<span key=${hour} class="hour" aria-hidden="true">${hour % 3 === 0 ? hour : ""}</span>`)}
                ${DAYS.map(
                    (day, at) => html`
                        <button key=${day} type="button" class="day" title=${t("week.day")} aria-label=${t("week.wholeDay", { day: longDayName().format(monday(at)) })} onClick=${() => switchDay(at)}>
                            ${dayName().format(monday(at))}
                        </button>
                        ${hours.slice(at * HOURS, (at + 1) * HOURS).map((isOn, hour) => {
                            const place = at * HOURS + hour;
                            return html`<button
                                key=${place}
                                type="button"
                                class="cell"
                                data-hour=${place}
                                name=${hour === OFFICE.from && at === 0 ? name : undefined}
                                tabindex=${place === focused.value ? 0 : -1}
                                aria-pressed=${isOn}
                                aria-label=${label(place)}
                                onFocus=${() => (focused.value = place)}
                                onClick=${(/** @type {MouseEvent} */ event) => {
                                    // Of the keyboard; the pointer has painted the cell already.
                                    if (event.detail === 0) paint(place, !isOn);
                                }}
                            ></button>`;
                        })}
                    `,
                )}
            </div>
            <div class="actions">
                <button type="button" class="small-button" onClick=${takeOfficeHours}>${t("week.office")}</button>
                <label class="week-zone">
                    <span class="visually-hidden">${t("report.zone")}</span>
                    <select
                        value=${chosenZone.value}
                        onChange=${(/** @type {any} */ event) => {
                            chosenZone.value = event.target.value;
                            onChange(schedulesOf(hours, event.target.value));
                        }}
                    >
                        ${zones.map(one => html`<option key=${one} value=${one} selected=${one === chosenZone.value}>${one.replaceAll("_", " ")}</option>`)}
                    </select>
                </label>
            </div>
            ${schedules.length > 0 && html`<p><small dir="auto">${schedulesInWords(schedules)}</small></p>`}
            ${error && html`<small class="error" role="alert">${error}</small>`}
        </div>
    `;
}

/**
 * Such as "Mon, Tue 09:00–17:00 (Europe/Berlin)".
 * @param {readonly Partial<Schedule>[]} schedules
 */
function schedulesInWords(schedules) {
    const names = new Map(DAYS.map((day, at) => [/** @type {string} */ (day), dayName().format(monday(at))]));
    return schedules
        .map(({ days = [], from = "", until = "", timezone = "UTC" }) =>
            `${days.map(day => names.get(day) ?? day).join(", ")} ${from}–${until} (${timezone})`.trim(),
        )
        .join("; ");
}
