/** Campaigns: reports with a name. They have the parameters of the API; the address of the page has its own for the period. */
import { query } from "../../core/router.js";
import { DIMENSIONS, SELECTION } from "../report/filters.js";
import { API_NAMES, API_PERIODS, periodOf } from "../report/period.js";

/** @typedef {Record<string, string | undefined>} Parameters */

const PAGE = "/dashboard/analytics";
/** What the address of a report can have, in the order of the names. */
const OWN = ["range", "start", "end", "interval", "zone", "compare", ...DIMENSIONS, ...SELECTION].sort();

/**
 * The parameters of the API for the report of an address.
 * @param {URLSearchParams} address
 * @returns {Record<string, string>}
 */
export function reportOf(address) {
    /** @type {Record<string, string>} */
    const report = {};
    const { intervals, comparison } = periodOf(address);
    for (const name of OWN) {
        const value = address.get(name) ?? "";
        // A custom period has days instead of a name. The API has no weeks.
        if (value === "" || value === "custom" || value === "week") continue;
        // What the page ignores, the API would refuse.
        if ((name === "start" || name === "end") && address.get("range") !== "custom") continue;
        if (name === "interval" && !intervals.some(other => other === value)) continue;
        if (name === "compare" && comparison === "") continue;
        if (name === "range") report.period = API_PERIODS.get(value) ?? value;
        else if (name === "compare") report.compare = value === "year" ? "year" : "previous";
        else report[API_NAMES.get(name) ?? name] = value;
    }
    return report;
}

/**
 * The address of the page with the report of a campaign. Equal reports have equal addresses.
 * @param {Parameters} report
 */
export function addressOfReport(report) {
    const ranges = new Map([...API_PERIODS].map(([range, period]) => [period, range]));
    const { period = "" } = report;
    const range = report.startDate || report.endDate ? "custom" : (ranges.get(period) ?? period);
    const next = new URLSearchParams();
    for (const name of OWN) {
        const value = name === "range" ? range : (report[API_NAMES.get(name) ?? name] ?? "");
        if (value !== "") next.set(name, value);
    }
    return `${PAGE}${next.size > 0 ? `?${next}` : ""}`;
}

/** @type {import("../../parts/saved_views.js").Views} */
export const CAMPAIGNS = {
    has: ({ report }) => report !== null,
    plain: PAGE,
    all: "campaigns.all",
    save: "campaigns.save",
    label: "campaigns.label",
    addressOf: ({ report }) => addressOfReport(report ?? {}),
    current: () => addressOfReport(reportOf(query.value)),
    kept: () => ({ filters: {}, report: reportOf(query.value) }),
};
