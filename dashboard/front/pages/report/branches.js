/** The clicks of each rule and each entry of the split, and of the link's own destination. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { DataTable } from "./data_table.js";
import { UNSET } from "./filters.js";
import { shareOf } from "./names.js";
import { fileName } from "./report.js";
import { rowFilter } from "./shares.js";

/** @param {{report: import("./report.js").Report, figures: import("./report.js").Figures}} properties */
export function BranchesSection({ report, figures: { overview } }) {
    const branches = overview.branches ?? [];
    if (branches.length === 0) return null;
    const clicks = branches.reduce((total, branch) => total + branch.clicks, 0);
    const uniqueClicks = branches.reduce((total, branch) => total + (branch.uniqueClicks ?? 0), 0);
    const rest = overview.totalClicks - clicks;
    const rows = [
        ...branches.map(branch => [branch.name, branch.url, branch.clicks, branch.uniqueClicks, branch.percentage]),
        [
            t("report.ownDestination"),
            report.link.value?.targetUrl || report.link.value?.originalUrl || "",
            rest,
            overview.uniqueClicks === null ? null : overview.uniqueClicks - uniqueClicks,
            shareOf(rest, overview.totalClicks),
        ],
    ];
    return html`
        <section class="panel" aria-label=${t("report.branches")}>
            <h2>${t("report.branches")}</h2>
            <${DataTable}
                title=${t("report.branches")}
                file=${fileName(report, "branches")}
                columns=${[
                    { label: t("report.branch") },
                    { label: t("row.url") },
                    { label: t("report.total.clicks"), kind: "number" },
                    { label: t("report.total.unique"), kind: "number" },
                    { label: t("report.share"), kind: "percent" },
                ]}
                rows=${rows}
                filterOf=${(/** @type {number} */ position) => rowFilter("branch", { values: [branches[position]?._id ?? UNSET] })}
                bar=${2}
                limit=${rows.length}
            />
        </section>
    `;
}
