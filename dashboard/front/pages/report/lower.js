/** The lower part of a report: the branches, what is best, the week, and the ledger. Each is drawn in a frame of its own. */
import { html } from "../../core/html.js";
import { useGrowing } from "../../parts/gradual.js";
import { BestSection } from "./best.js";
import { BranchesSection } from "./branches.js";
import { LedgerSection } from "./ledger.js";

const SECTIONS = [BranchesSection, BestSection, LedgerSection];

/** @param {{report: import("./report.js").Report, figures: import("./report.js").Figures}} properties */
export function Lower(properties) {
    const drawn = useGrowing(SECTIONS.length, 1);
    return html`
        ${SECTIONS.slice(0, drawn).map((Section, position) => html`<${Section} key=${position} ...${properties} />`)}
        ${drawn < SECTIONS.length && html`<p aria-busy="true"></p>`}
    `;
}
