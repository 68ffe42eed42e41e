/** Where the visitors came from, where they were, and with what: three panels side by side. Each value is a filter. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { LazyPage } from "../../parts/lazy.js";
import { DataTable } from "./data_table.js";
import { Grouped } from "./grouped.js";
import { nameOfCountry, shareOf } from "./names.js";
import { Panel } from "./panel.js";
import { fileName } from "./report.js";
import { Shares, rowFilter } from "./shares.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").Figures} Figures */
/** @typedef {import("./filters.js").Dimension} Dimension */
/** @typedef {import("./lists.js").Row} Row */
/** @typedef {import("../../core/texts.js").Key} Key */

const ROWS = 6;
const loadMap = () => import("./map.js").then(({ WorldMap }) => ({ Page: WorldMap }));

/** @param {{report: Report, figures: Figures}} properties */
export const VisitorsSection = ({ report, figures }) => html`
    <section class="panels" aria-label=${t("report.visitors")}>
        <${Sources} report=${report} figures=${figures} />
        <${Places} report=${report} figures=${figures} />
        <${Devices} report=${report} figures=${figures} />
    </section>
`;

/** @param {{report: Report, figures: Figures}} properties */
function Sources({ report, figures }) {
    const { totalClicks, scans } = figures.overview;
    const clicked = totalClicks - scans;
    /** @type {Row[]} */
    const ways = [
        { name: t("report.scanned"), values: ["qr"], clicks: scans, share: shareOf(scans, totalClicks) },
        { name: t("report.clicked"), values: [], clicks: clicked, share: shareOf(clicked, totalClicks) },
    ];
    return html`<${Panel}
        name="sources"
        title=${t("report.sources")}
        tabs=${[
            tabOf(report, figures, "referrer", "referrers", "report.referrers", "report.referrer"),
            {
                name: "channels",
                label: t("report.channels"),
                show: () => html`<${Grouped} report=${report} figures=${figures} by="channel" title=${t("report.channels")} limit=${ROWS} />`,
            },
            {
                name: "scans",
                label: t("report.scans"),
                show: () => html`<${Shares}
                    report=${report}
                    file="scans"
                    title=${t("report.scans")}
                    first=${t("report.way")}
                    rows=${totalClicks === 0 ? [] : ways}
                    limit=${ROWS}
                    filterOf=${(/** @type {Row} */ row) => rowFilter("channel", row)}
                />`,
            },
        ]}
    />`;
}

/** @param {{report: Report, figures: Figures}} properties */
function Places({ report, figures }) {
    const countries = (figures.lists.country ?? []).flatMap(({ values, clicks }) => values.map(code => ({ code, clicks })));
    return html`<${Panel}
        name="places"
        title=${t("report.places")}
        tabs=${[
            tabOf(report, figures, "country", "countries", "report.countries", "report.country"),
            { name: "map", label: t("report.mapTab"), show: () => html`<${LazyPage} load=${loadMap} countries=${countries} />` },
            { name: "regions", label: t("report.regions"), show: () => html`<${WithinCountries} report=${report} figures=${figures} dimension="region" file="regions" />` },
            { name: "cities", label: t("report.cities"), show: () => html`<${WithinCountries} report=${report} figures=${figures} dimension="city" file="cities" />` },
        ]}
    />`;
}

/**
 * Regions or cities. Without a file of them, one sentence stands for all the unknown ones.
 * @param {{report: Report, figures: Figures, dimension: "region" | "city", file: "regions" | "cities"}} properties
 */
function WithinCountries({ report, figures: { lists, attribution }, dimension, file }) {
    const places = lists[dimension] ?? [];
    const isUnknown = places.length > 0 && places.every(({ values }) => values.every(value => value === "unknown"));
    if (isUnknown) return html`<p class="muted">${t("report.noCityFile")}</p>`;
    return html`
        <${DataTable}
            title=${t(`report.${file}`)}
            file=${fileName(report, file)}
            columns=${[
                { label: t(`report.${dimension}`) },
                { label: t("report.country") },
                { label: t("report.total.clicks"), kind: "number" },
            ]}
            rows=${places.map(({ name, values: [place = ""], clicks }) => [name, /^[A-Z]{2} /.test(place) ? nameOfCountry(place.slice(0, 2)) : name, clicks])}
            bar=${2}
            limit=${ROWS}
            filterOf=${(/** @type {number} */ position) => rowFilter(dimension, places[position])}
        />
        ${attribution !== undefined &&
        html`<p class="muted"><a href=${attribution.url} target="_blank" rel="noopener noreferrer">${attribution.text}</a></p>`}
    `;
}

/** @param {{report: Report, figures: Figures}} properties */
const Devices = ({ report, figures }) => html`<${Panel}
    name="devices"
    title=${t("report.agents")}
    tabs=${[
        tabOf(report, figures, "browser", "browsers", "report.browsers", "report.browser"),
        tabOf(report, figures, "device", "devices", "report.devices", "report.device"),
        tabOf(report, figures, "os", "systems", "report.systems", "report.system"),
        tabOf(report, figures, "language", "languages", "report.languages", "report.language"),
    ]}
/>`;

/**
 * The tab with the list of a dimension.
 * @param {Report} report
 * @param {Figures} figures
 * @param {Dimension} dimension
 * @param {string} file
 * @param {Key} title
 * @param {Key} first the name of its first column
 * @returns {import("./panel.js").Tab}
 */
const tabOf = (report, { lists }, dimension, file, title, first) => ({
    name: file,
    label: t(title),
    show: () => html`<${Shares}
        report=${report}
        file=${file}
        title=${t(title)}
        first=${t(first)}
        rows=${lists[dimension] ?? []}
        limit=${ROWS}
        filterOf=${(/** @type {Row} */ row) => rowFilter(dimension, row)}
    />`,
});
