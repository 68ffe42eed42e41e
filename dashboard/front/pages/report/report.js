/** The figures of a report, and how they stay current. */
import { ApiError, isAbort } from "../../core/api.js";
import { readLink } from "../../core/endpoints.js";
import { messageOf } from "../../core/failures.js";
import { signal } from "../../core/html.js";
import { query } from "../../core/router.js";
import { listLinkChanges } from "../history/endpoints.js";
import { addDays, today } from "./days.js";
import { listRequests, readDevices, readOverview, readPlaces } from "./endpoints.js";
import { periodOf } from "./period.js";

/** @typedef {import("./endpoints.js").Overview} Overview */
/** @typedef {import("./endpoints.js").RequestPage} RequestPage */
/** @typedef {import("./period.js").Period} Period */

/** @typedef {"all" | "click" | "refused" | "notCounted"} Kind */

/**
 * The figures of one period, which belong together.
 * @typedef {object} Figures
 * @property {Period} period
 * @property {Kind} kind of the requests
 * @property {Overview} overview
 * @property {Overview | null} before
 * @property {import("./endpoints.js").Devices} devices
 * @property {import("./endpoints.js").Places} places
 * @property {RequestPage} requests the newest
 */

// Enough rows for a table, few enough to load quickly.
const MAX_VALUES = 100;
const MAX_PLACES = 250;
/** @type {Record<Kind, string | undefined>} */
const API_KINDS = { all: undefined, click: "click", refused: "refused", notCounted: "head,prefetch,crawler,ignored" };

export class Report {
    /** The choice for which the figures were loaded. */
    #loaded = "";

    /** @param {string} id */
    constructor(id) {
        this.id = id;
        /** @type {import("../../core/html.js").Signal<import("../../core/endpoints.js").Url | null>} */
        this.link = signal(/** @type {any} */ (null));
        /** @type {import("../../core/html.js").Signal<Figures | null>} */
        this.figures = signal(/** @type {Figures | null} */ (null));
        /** The changes of the link, the newest first; null: not known. */
        this.changes = signal(/** @type {import("../history/endpoints.js").Change[] | null} */ (null));
        /** The kind of requests in the log. */
        this.kind = signal(/** @type {Kind} */ ("all"));
        this.failure = signal(/** @type {string | null} */ (null));
        /** What `failure` is the message of. */
        this.error = signal(/** @type {unknown} */ (null));
        /** When the figures were last confirmed. */
        this.confirmed = signal(/** @type {Date | null} */ (null));
        /** Whether the last attempt to confirm them failed. */
        this.isLate = signal(false);
    }

    /**
     * Loads the figures if the period or a count has changed.
     * @param {AbortSignal} aborted
     * @returns {Promise<"repeat" | "failed" | "done">} "done": there is nothing to wait for
     */
    async refresh(aborted) {
        const period = periodOf(query.value);
        const kind = this.kind.value;
        try {
            const [counts] = await Promise.all([period.isLive ? this.#counts(aborted) : "", this.#readLink()]);
            const requested = JSON.stringify([period, kind, counts]);
            if (requested !== this.#loaded) {
                this.figures.value = await this.#load(period, kind, aborted);
                this.#loaded = requested;
            }
            this.failure.value = null;
            this.error.value = null;
            this.isLate.value = false;
            this.confirmed.value = new Date();
            return period.isLive ? "repeat" : "done";
        } catch (error) {
            if (isAbort(error)) return "repeat";
            this.isLate.value = true;
            const isOutdated = JSON.stringify(this.figures.value?.period) !== JSON.stringify(period);
            if (isOutdated || !isTemporary(error)) {
                this.failure.value = messageOf(error);
                this.error.value = error;
            }
            return isTemporary(error) ? "failed" : "done";
        }
    }

    async #readLink() {
        // Without `peek`, the caller would start again when the link arrives.
        if (this.link.peek() !== null) return;
        // A report without its annotations is better than none.
        listLinkChanges(this.id, {}).then(
            ({ changes }) => (this.changes.value = changes),
            () => {},
        );
        this.link.value = await readLink(this.id);
    }

    /**
     * Counts of the current and the previous UTC day. They change with every request that the service counts, and cost
     * little to read, because the service stores them by UTC day.
     * @param {AbortSignal} aborted
     */
    async #counts(aborted) {
        const startDate = addDays(today("UTC"), -1);
        const counted = await readOverview(this.id, { startDate, limit: 1 }, aborted);
        const { totalClicks, uniqueClicks, notCounted, refused } = counted;
        return JSON.stringify([totalClicks, uniqueClicks, notCounted, refused]);
    }

    /**
     * A page of the log that follows the cursor.
     * @param {Figures} figures
     * @param {string} cursor
     */
    readOlder({ period, kind }, cursor) {
        return listRequests(this.id, { ...daysQuery(period, period.days), kind: API_KINDS[kind], cursor });
    }

    /**
     * @param {Period} period
     * @param {Kind} kind
     * @param {AbortSignal} aborted
     * @returns {Promise<Figures>}
     */
    async #load(period, kind, aborted) {
        const days = daysQuery(period, period.days);
        /** @type {"hour" | "day" | "month"} */
        const interval = period.interval === "week" ? "day" : period.interval;
        const limit = MAX_VALUES;
        const [overview, before, devices, places, requests] = await Promise.all([
            readOverview(this.id, { ...days, interval, limit }, aborted),
            period.before && readOverview(this.id, { ...daysQuery(period, period.before), interval, limit }, aborted),
            readDevices(this.id, { ...days, limit }, aborted),
            readPlaces(this.id, { ...days, limit: MAX_PLACES }, aborted),
            listRequests(this.id, { ...days, kind: API_KINDS[kind] }, aborted),
        ]);
        return { period, kind, overview, before, devices, places, requests };
    }
}

/** @param {unknown} error */
const isTemporary = error =>
    error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);

/**
 * The name of a download, without the extension.
 * @param {Report} report
 * @param {string} part
 */
export function fileName(report, part) {
    const link = report.link.value;
    const days = report.figures.value?.period.days;
    return [link?.customCode || link?.shortCode, part, days?.start, days?.end].filter(Boolean).join("-");
}

/**
 * @param {Period} period
 * @param {import("./period.js").Days | null} days
 */
function daysQuery({ zone }, days) {
    return days === null ? { timezone: zone } : { startDate: days.start, endDate: days.end, timezone: zone };
}
