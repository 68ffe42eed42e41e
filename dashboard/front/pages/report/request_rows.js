/** The columns and rows of the log of requests. */
import { language, t } from "../../core/texts.js";
import { nameOfCountry, nameOfReason, nameOfValue } from "./names.js";

/** @typedef {import("./endpoints.js").RequestPage["clicks"]} Requests */

/** @returns {import("./data_table.js").Column[]} */
export const columnsOfLog = () => [
    { label: t("report.time") },
    { label: t("report.result") },
    { label: t("report.country") },
    { label: t("report.city") },
    { label: t("report.device") },
    { label: t("report.browser") },
    { label: t("report.system") },
    { label: t("report.referrer") },
    { label: t("report.way") },
    { label: t("report.branch") },
    { label: t("row.url") },
];

/**
 * @param {Requests} requests
 * @param {string} zone
 */
export function rowsOfLog(requests, zone) {
    const time = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium", timeZone: zone });
    return requests.map(request => [
        time.format(new Date(request.time)),
        resultOf(request),
        nameOfCountry(request.country),
        nameOfValue(request.city),
        nameOfValue(request.device),
        nameOfValue(request.browser),
        nameOfValue(request.operatingSystem),
        nameOfValue(request.referrer),
        t(request.scanned ? "report.scanned" : "report.clicked"),
        request.branch?.name ?? null,
        request.location ?? null,
    ]);
}

/** @param {Requests[number]} request */
function resultOf({ kind, reason }) {
    if (kind === "click") return t("report.kind.click");
    return kind === "refused" ? `${t("report.kind.refused")}: ${nameOfReason(reason ?? "")}` : nameOfReason(kind);
}
