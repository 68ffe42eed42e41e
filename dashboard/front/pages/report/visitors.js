/** The devices, browsers and systems of visitors, and their referrers. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { DataTable } from "./data_table.js";
import { nameOfValue, shareOf } from "./names.js";
import { fileName } from "./report.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").Figures} Figures */
/** @typedef {[name: string, clicks: number, percentage: number]} Share */

/** @param {{report: Report, figures: Figures}} properties */
export function AgentsSection({ report, figures: { devices } }) {
    /** @param {{name: string, clicks: number, percentage: number}} row */
    const named = ({ name, clicks, percentage }) => /** @type {Share} */ ([nameOfValue(name), clicks, percentage]);
    const types = devices.devices.map(({ type, ...counted }) => named({ name: type, ...counted }));
    return html`
        <section aria-label=${t("report.agents")}>
            <h2>${t("report.agents")}</h2>
            <div class="columns">
                <${Shares} report=${report} file="devices" title=${t("report.devices")} rows=${types} />
                <${Shares}
                    report=${report}
                    file="browsers"
                    title=${t("report.browsers")}
                    rows=${devices.browsers.map(named)}
                />
                <${Shares}
                    report=${report}
                    file="systems"
                    title=${t("report.systems")}
                    rows=${devices.operatingSystems.map(named)}
                />
            </div>
        </section>
    `;
}

/** @param {{report: Report, figures: Figures}} properties */
export function SourcesSection({ report, figures: { overview } }) {
    const { totalClicks, scans, topReferrers } = overview;
    const referrers = topReferrers.map(({ referrer, clicks }) => /** @type {Share} */ ([
        nameOfValue(referrer),
        clicks,
        shareOf(clicks, totalClicks),
    ]));
    const clicked = totalClicks - scans;
    /** @type {Share[]} */
    const ways = [
        [t("report.scanned"), scans, shareOf(scans, totalClicks)],
        [t("report.clicked"), clicked, shareOf(clicked, totalClicks)],
    ];
    return html`
        <section aria-label=${t("report.sources")}>
            <h2>${t("report.sources")}</h2>
            <div class="columns">
                <${Shares} report=${report} file="referrers" title=${t("report.referrers")} rows=${referrers} />
                <${Shares}
                    report=${report}
                    file="scans"
                    title=${t("report.scans")}
                    rows=${totalClicks === 0 ? [] : ways}
                />
            </div>
        </section>
    `;
}

/** @param {{report: Report, file: string, title: string, rows: Share[]}} properties */
const Shares = ({ report, file, title, rows }) => html`
    <div data-shares=${file}>
        <h3>${title}</h3>
        <${DataTable}
            title=${title}
            file=${fileName(report, file)}
            columns=${[
                { label: title },
                { label: t("report.total.clicks"), kind: "number" },
                { label: t("report.share"), kind: "percent" },
            ]}
            rows=${rows}
            bar=${1}
        />
    </div>
`;
