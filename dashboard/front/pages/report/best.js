/** Of a workspace: its links with the most clicks. */
import { html } from "../../core/html.js";
import { query } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { Panel } from "./panel.js";
import { TopLinks } from "./top_links.js";

/** What the report of one link shows, too. */
const SHARED = ["range", "start", "end", "interval", "zone", "compare"];

/** @param {{report: import("./report.js").Report, figures: import("./report.js").Figures}} properties */
export function BestSection({ report, figures: { overview, topUrls } }) {
    if (report.isOfLink) return null;
    const kept = new URLSearchParams([...query.value].filter(([name]) => SHARED.includes(name)));
    const show = () =>
        topUrls.length === 0
            ? html`<p class="muted">${t("report.nothing")}</p>`
            : html`<${TopLinks} links=${topUrls} total=${overview.totalClicks} others=${overview.otherUrls?.clicks} query=${kept.size > 0 ? `?${kept}` : ""} />`;
    return html`
        <section class="panels pair" aria-label=${t("overview.best")}>
            <${Panel} name="best" title=${t("overview.best")} tabs=${[{ name: "links", label: t("links.title"), show }]} />
        </section>
    `;
}
