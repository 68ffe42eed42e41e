/** The columns and rows of the log of requests. */
import { withoutScheme } from "../../core/hues.js";
import { language, t } from "../../core/texts.js";
import { nameOfCountry, nameOfFilter, nameOfLanguage, nameOfReason, nameOfReferrer, nameOfValue } from "./names.js";

/** @typedef {import("./endpoints.js").RequestPage["clicks"]} Requests */

/**
 * @param {string} zone of the times on the page; a file has them in UTC, as ISO 8601
 * @param {boolean} isOfLink whether all requests are for one link
 * @returns {import("./data_table.js").Column[]}
 */
export const columnsOfLog = (zone, isOfLink) => [
    { label: t("report.time"), show: timesIn(zone) },
    ...(isOfLink ? [] : [{ label: t("report.link") }]),
    { label: t("report.result"), kind: "phrase" },
    { label: t("report.country") },
    { label: t("report.region") },
    { label: t("report.city") },
    { label: t("report.device") },
    { label: t("report.browser") },
    { label: t("report.system") },
    { label: t("report.language") },
    { label: t("report.referrer") },
    { label: t("report.way") },
    { label: t("report.branch") },
    { label: t("row.url") },
];

/** @param {string} zone */
function timesIn(zone) {
    const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium", timeZone: zone });
    return (/** @type {string} */ moment) => format.format(new Date(moment));
}

/**
 * @param {Requests} requests
 * @param {boolean} isOfLink
 */
export const rowsOfLog = (requests, isOfLink) =>
    requests.map(request => [
        request.time,
        ...(isOfLink ? [] : [withoutScheme(request.shortUrl ?? "")]),
        resultOf(request),
        nameOfCountry(request.country),
        nameOfValue(request.region),
        nameOfValue(request.city),
        nameOfValue(request.device),
        nameOfValue(request.browser),
        nameOfValue(request.operatingSystem),
        nameOfLanguage(request.language),
        nameOfReferrer(request.referrer),
        wayOf(request),
        request.branch?.name ?? null,
        request.location ?? null,
    ]);

/** @param {Requests[number]} request */
function resultOf({ kind, reason }) {
    if (kind === "click") return t("report.kind.click");
    if (reason === "password") return nameOfReason(reason);
    return kind === "refused" ? `${t("report.kind.refused")}: ${nameOfReason(reason ?? "")}` : nameOfFilter("kind", kind);
}

/** Of visitors: programs neither scan nor click. @param {Requests[number]} request */
function wayOf({ kind, scanned }) {
    if (kind !== "click" && kind !== "refused" && kind !== "ignored") return null;
    return t(scanned ? "report.scanned" : "report.clicked");
}
