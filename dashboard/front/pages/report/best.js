/** The best links of a workspace, its tags and campaigns; and of every report, the hours of the week. */
import { html } from "../../core/html.js";
import { query } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { Grouped } from "./grouped.js";
import { Heat } from "./heat_map.js";
import { Panel } from "./panel.js";
import { TopLinks } from "./top_links.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").Figures} Figures */

/** What the report of one link shows, too. */
const SHARED = ["range", "start", "end", "interval", "zone", "compare"];
const ROWS = 8;

/** @param {{report: Report, figures: Figures}} properties */
export const BestSection = ({ report, figures }) => html`
    <section class="panels pair" aria-label=${report.isOfLink ? undefined : t("links.title")}>
        ${!report.isOfLink && html`<${Best} report=${report} figures=${figures} />`}
        <section class="panel" aria-label=${t("report.heat")}>
            <div class="panel-head"><h2>${t("report.heat")}</h2></div>
            <${Heat} report=${report} figures=${figures} />
        </section>
    </section>
`;

/** @param {{report: Report, figures: Figures}} properties */
function Best({ report, figures }) {
    const { overview, topUrls } = figures;
    const kept = new URLSearchParams([...query.value].filter(([name]) => SHARED.includes(name)));
    const links = () =>
        topUrls.length === 0
            ? html`<p class="muted">${t(overview.totalClicks > 0 ? "overview.tooLargeShort" : "report.nothing")}</p>`
            : html`<${TopLinks} links=${topUrls.slice(0, ROWS)} total=${overview.totalClicks} others=${othersOf(figures)} query=${kept.size > 0 ? `?${kept}` : ""} />`;
    /** @param {import("./grouped.js").Property} by @param {import("../../core/texts.js").Key} label */
    const tab = (by, label) => ({
        name: by,
        label: t(label),
        show: () => html`<${Grouped} key=${by} report=${report} figures=${figures} by=${by} title=${t(label)} limit=${ROWS} />`,
    });
    return html`<${Panel}
        name="best"
        title=${t("overview.best")}
        tabs=${[
            { name: "links", label: t("links.title"), show: links },
            tab("tag", "field.tags"),
            tab("utmCampaign", "utm.campaign"),
            tab("utmSource", "utm.source"),
            tab("utmMedium", "utm.medium"),
            tab("domain", "field.domainId"),
        ]}
    />`;
}

/** The clicks on the links that are not listed. @param {Figures} figures */
const othersOf = ({ overview, topUrls }) => overview.totalClicks - topUrls.slice(0, ROWS).reduce((sum, { clicks }) => sum + clicks, 0);
