/** The ledger: the requests that were refused or not counted, and why. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { DataTable } from "./data_table.js";
import { Downloads } from "./downloads.js";
import { nameOfReason } from "./names.js";
import { fileName } from "./report.js";
import { RequestLog } from "./request_log.js";
import { askedOf, notCountedOf, refusedOf } from "./totals.js";

/** @param {{report: import("./report.js").Report, figures: import("./report.js").Figures}} properties */
export function LedgerSection({ report, figures }) {
    const { overview, period, filters } = figures;
    const [refused, asked, notCounted] = [refusedOf(overview), askedOf(overview), notCountedOf(overview)];
    const total = overview.totalClicks + notCounted + refused + asked;
    // With a kind, the total has requests that are in these numbers, too.
    return html`
        ${filters.kind === undefined &&
        html`<p class="ledger">
            <${Icon} name="scale" />
            <span><b>${t("report.allRequests", { count: total })}</b> ${t(asked > 0 ? "report.sumWithAsked" : "report.sumOf", { count: overview.totalClicks, notCounted, refused, asked })}</span>
        </p>`}
        <section class="panel" aria-label=${t("report.ledger")}>
            <h2>${t("report.ledger")}</h2>
            <p class="muted">${t("report.ledgerText")}</p>
            <${DataTable}
                title=${t("report.ledger")}
                file=${fileName(report, "ledger")}
                columns=${[
                    { label: t("report.result") },
                    { label: t("report.reason") },
                    { label: t("report.requests"), kind: "number" },
                ]}
                rows=${rowsOf(overview)}
                bar=${2}
                limit=${Infinity}
            />
            ${period.zone !== "UTC" && period.days !== null && html`<p class="muted">${t("report.utcDays")}</p>`}
        </section>
        <section class="panel" aria-label=${t("report.log")}>
            <div class="panel-head">
                <h2>${t("report.log")}</h2>
                <${Downloads} report=${report} figures=${figures} part="clicks" />
            </div>
            <${RequestLog} report=${report} figures=${figures} requests=${figures.requests} />
        </section>
    `;
}

/** @param {import("./endpoints.js").Overview} overview */
const rowsOf = ({ refused, notCounted }) =>
    [
        ...Object.entries(refused).map(([reason, count]) => [
            t(reason === "password" ? "report.total.asked" : "report.kind.refused"),
            nameOfReason(reason),
            count,
        ]),
        ...Object.entries(notCounted).map(([kind, count]) => [t("report.kind.notCounted"), nameOfReason(kind), count]),
    ].filter(([, , count]) => count !== 0);
