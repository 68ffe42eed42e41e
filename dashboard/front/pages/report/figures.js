/** The figures of a report: the totals at once, and each section below them in a frame of its own. */
import { html } from "../../core/html.js";
import { language, t } from "../../core/texts.js";
import { useGrowing } from "../../parts/gradual.js";
import { LazyPage } from "../../parts/lazy.js";
import { OverTime } from "./over_time.js";
import { Totals } from "./totals.js";
import { VisitorsSection } from "./visitors.js";

/** @typedef {import("./report.js").Report} Report */

const SECTIONS = [OverTime, VisitorsSection, LowerSections];
const loadLower = () => import("./lower.js").then(({ Lower }) => ({ Page: Lower }));

/** @param {{report: Report, figures: import("./report.js").Figures, isCurrent: boolean}} properties */
export function Figures({ report, figures, isCurrent }) {
    const drawn = useGrowing(SECTIONS.length, 1);
    return html`
        <div aria-busy=${!isCurrent || drawn < SECTIONS.length}>
            <${Totals} ...${figures} />
            ${SECTIONS.slice(0, drawn).map(
                (Section, position) => html`<${Section} key=${position} report=${report} figures=${figures} />`,
            )}
        </div>
    `;
}

/** What needs scrolling is loaded after what does not. @param {{report: Report, figures: import("./report.js").Figures}} properties */
function LowerSections(properties) {
    return html`<${LazyPage} load=${loadLower} ...${properties} />`;
}

/** @param {{report: Report, isLive: boolean}} properties */
export function Freshness({ report, isLive }) {
    const confirmed = report.confirmed.value;
    if (confirmed === null) return html`<p class="freshness"> </p>`;
    const time = confirmed.toLocaleTimeString(language);
    if (report.isLate.value) return html`<p class="freshness" data-state="late">${t("report.late", { time })}</p>`;
    return html`<p class="freshness" data-state=${isLive ? "live" : "still"}>
        ${t(isLive ? "report.live" : "report.still", { time })}
    </p>`;
}
