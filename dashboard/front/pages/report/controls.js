/** The choice of the period. It is in the address, so that a bookmark and the back button keep it. */
import { html } from "../../core/html.js";
import { navigate, path, query } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { useZones } from "../../core/zones.js";
import { DEFAULT_RANGE, RANGES } from "./period.js";

/**
 * The address of this report with another choice.
 * @param {Record<string, string | null>} changes null removes a parameter
 */
export function addressWith(changes) {
    const next = new URLSearchParams(query.value);
    for (const [name, value] of Object.entries(changes)) {
        if (value === null) next.delete(name);
        else next.set(name, value);
    }
    return `${path.value}${next.size > 0 ? `?${next}` : ""}`;
}

/** @param {Record<string, string | null>} changes */
const change = changes => navigate(addressWith(changes), { replace: true });

const COMPARISONS = /** @type {const} */ (["", "previous", "year"]);

/** @param {{period: import("./period.js").Period}} properties */
export function Controls({ period }) {
    const { range, days, interval, intervals, zone, comparison } = period;
    const zones = useZones(zone);
    /** @param {any} event */
    const chooseRange = ({ target: { value } }) => {
        const custom = value === "custom" && days !== null ? days : { start: null, end: null };
        change({ range: value === DEFAULT_RANGE ? null : value, interval: null, ...custom });
    };
    return html`
        <form class="controls" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
            <label>
                <span class="visually-hidden">${t("report.range")}</span>
                <select name="range" value=${range} onChange=${chooseRange}>
                    ${RANGES.map(name => html`<option value=${name}>${t(`report.range.${name}`)}</option>`)}
                </select>
            </label>
            ${range === "custom" &&
            days !== null &&
            html`
                <${Day} name="start" label=${t("report.start")} value=${days.start} />
                <${Day} name="end" label=${t("report.end")} value=${days.end} />
            `}
            <label>
                <span class="visually-hidden">${t("report.interval")}</span>
                <select
                    name="interval"
                    value=${interval}
                    onChange=${(/** @type {any} */ event) => change({ interval: event.target.value })}
                >
                    ${intervals.map(name => html`<option value=${name}>${t(`report.interval.${name}`)}</option>`)}
                </select>
            </label>
            <label>
                <span class="visually-hidden">${t("report.zone")}</span>
                <select
                    name="zone"
                    value=${zone}
                    onChange=${(/** @type {any} */ event) => change({ zone: event.target.value })}
                >
                    ${zones.map(name => html`<option value=${name}>${name.replaceAll("_", " ")}</option>`)}
                </select>
            </label>
            <label>
                <span class="visually-hidden">${t("report.compare")}</span>
                <select
                    name="compare"
                    disabled=${days === null}
                    value=${comparison}
                    onChange=${(/** @type {any} */ event) => change({ compare: event.target.value || null })}
                >
                    ${COMPARISONS.map(name => html`<option value=${name}>${t(`report.compare.${name || "none"}`)}</option>`)}
                </select>
            </label>
        </form>
    `;
}

/** @param {{name: "start" | "end", label: string, value: string}} properties */
const Day = ({ name, label, value }) => html`
    <label>
        ${label}
        <input
            type="date"
            name=${name}
            value=${value}
            onChange=${(/** @type {any} */ event) => event.target.value && change({ [name]: event.target.value })}
        />
    </label>
`;
