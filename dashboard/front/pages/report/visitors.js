/** Where the visitors came from, where they were, and with what: three panels side by side. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { DataTable } from "./data_table.js";
import { WorldMap } from "./map.js";
import { nameOfCountry, nameOfReferrer, nameOfValue, shareOf } from "./names.js";
import { Panel } from "./panel.js";
import { fileName } from "./report.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").Figures} Figures */
/** @typedef {[name: string, clicks: number, percentage: number]} Share */

const ROWS = 6;

/** @param {{report: Report, figures: Figures}} properties */
export const VisitorsSection = ({ report, figures }) => html`
    <section class="panels" aria-label=${t("report.visitors")}>
        <${Sources} report=${report} figures=${figures} />
        <${Places} report=${report} figures=${figures} />
        <${Devices} report=${report} figures=${figures} />
    </section>
`;

/** @param {{report: Report, figures: Figures}} properties */
function Sources({ report, figures: { overview } }) {
    const { totalClicks, scans, topReferrers } = overview;
    const referrers = merged(topReferrers.map(({ referrer, clicks }) => [nameOfReferrer(referrer), clicks])).map(
        ([name, clicks]) => /** @type {Share} */ ([name, clicks, shareOf(clicks, totalClicks)]),
    );
    const clicked = totalClicks - scans;
    /** @type {Share[]} */
    const ways = [
        [t("report.scanned"), scans, shareOf(scans, totalClicks)],
        [t("report.clicked"), clicked, shareOf(clicked, totalClicks)],
    ];
    return html`<${Panel}
        name="sources"
        title=${t("report.sources")}
        tabs=${[
            { name: "referrers", label: t("report.referrers"), show: () => html`<${Shares} report=${report} file="referrers" title=${t("report.referrers")} first=${t("report.referrer")} rows=${referrers} />` },
            { name: "scans", label: t("report.scans"), show: () => html`<${Shares} report=${report} file="scans" title=${t("report.scans")} first=${t("report.way")} rows=${totalClicks === 0 ? [] : ways} />` },
        ]}
    />`;
}

/** @param {{report: Report, figures: Figures}} properties */
function Places({ report, figures: { places } }) {
    const countries = places.countries.map(({ code, clicks, percentage }) => /** @type {Share} */ ([nameOfCountry(code), clicks, percentage]));
    return html`<${Panel}
        name="places"
        title=${t("report.places")}
        tabs=${[
            { name: "countries", label: t("report.countries"), show: () => html`<${Shares} report=${report} file="countries" title=${t("report.countries")} first=${t("report.country")} rows=${countries} />` },
            { name: "map", label: t("report.mapTab"), show: () => html`<${WorldMap} countries=${places.countries} />` },
            { name: "cities", label: t("report.cities"), show: () => html`<${Cities} report=${report} places=${places} />` },
        ]}
    />`;
}

/**
 * Without a file of cities, one sentence stands for all the unknown ones.
 * @param {{report: Report, places: import("./endpoints.js").Places}} properties
 */
function Cities({ report, places: { cities, attribution } }) {
    const isUnknown = cities.length > 0 && cities.every(({ name }) => name === "unknown");
    if (isUnknown) return html`<p class="muted">${t("report.noCityFile")}</p>`;
    return html`
        <${DataTable}
            title=${t("report.cities")}
            file=${fileName(report, "cities")}
            columns=${[
                { label: t("report.city") },
                { label: t("report.country") },
                { label: t("report.total.clicks"), kind: "number" },
            ]}
            rows=${cities.map(({ name, country, clicks }) => [nameOfValue(name), nameOfCountry(country), clicks])}
            bar=${2}
            limit=${ROWS}
        />
        ${attribution !== undefined &&
        html`<p class="muted"><a href=${attribution.url} target="_blank" rel="noopener noreferrer">${attribution.text}</a></p>`}
    `;
}

/** @param {{report: Report, figures: Figures}} properties */
function Devices({ report, figures: { devices } }) {
    /** @param {{name: string, clicks: number, percentage: number}} row */
    const named = ({ name, clicks, percentage }) => /** @type {Share} */ ([nameOfValue(name), clicks, percentage]);
    const types = devices.devices.map(({ type, ...counted }) => named({ name: type, ...counted }));
    return html`<${Panel}
        name="devices"
        title=${t("report.agents")}
        tabs=${[
            { name: "browsers", label: t("report.browsers"), show: () => html`<${Shares} report=${report} file="browsers" title=${t("report.browsers")} first=${t("report.browser")} rows=${devices.browsers.map(named)} />` },
            { name: "types", label: t("report.devices"), show: () => html`<${Shares} report=${report} file="devices" title=${t("report.devices")} first=${t("report.device")} rows=${types} />` },
            { name: "systems", label: t("report.systems"), show: () => html`<${Shares} report=${report} file="systems" title=${t("report.systems")} first=${t("report.system")} rows=${devices.operatingSystems.map(named)} />` },
        ]}
    />`;
}

/**
 * Hosts with one name are one row: `t.co` and `x.com` are both X.
 * @param {[name: string, clicks: number][]} rows
 * @returns {[name: string, clicks: number][]}
 */
function merged(rows) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const [name, clicks] of rows) counts.set(name, (counts.get(name) ?? 0) + clicks);
    return [...counts].sort((one, other) => other[1] - one[1]);
}

/** @param {{report: Report, file: string, title: string, first: string, rows: Share[]}} properties */
const Shares = ({ report, file, title, first, rows }) => html`
    <div data-shares=${file}>
        <${DataTable}
            title=${title}
            file=${fileName(report, file)}
            columns=${[
                { label: first },
                { label: t("report.total.clicks"), kind: "number" },
                { label: t("report.share"), kind: "percent" },
            ]}
            rows=${rows}
            bar=${1}
            limit=${ROWS}
        />
    </div>
`;
