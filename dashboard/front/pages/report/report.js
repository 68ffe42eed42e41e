/** The figures of a report, and how they stay current. */
import { ApiError, isAbort } from "../../core/api.js";
import { readLink } from "../../core/endpoints.js";
import { messageOf } from "../../core/failures.js";
import { signal } from "../../core/html.js";
import { query } from "../../core/router.js";
import { addDays, today } from "./days.js";
import { listRequests, overviewReader, readDevices, readFile, readOverview, readPlaces, readWorkspace } from "./endpoints.js";
import { parametersOf } from "./filters.js";
import { listsOf } from "./lists.js";
import { periodOf } from "./period.js";

/** @typedef {import("./endpoints.js").Overview} Overview */
/** @typedef {NonNullable<Overview["compared"]>} Compared the figures of the period that the report is compared with */
/** @typedef {import("./endpoints.js").RequestPage} RequestPage */
/** @typedef {import("./period.js").Period} Period */

/** @typedef {"all" | "click" | "refused" | "notCounted"} Kind */

/** @typedef {import("./filters.js").Dimension} Dimension */
/** @typedef {NonNullable<import("./endpoints.js").WorkspaceQuery["groupBy"]>} GroupBy */
/** @typedef {Partial<Record<Dimension, import("./lists.js").Row[]>>} Lists */

/**
 * The figures of one choice, which belong together.
 * @typedef {object} Figures
 * @property {Period} period
 * @property {Record<string, string>} filters as parameters of the API
 * @property {Kind} kind of the requests
 * @property {Overview} overview
 * @property {Compared | null} before
 * @property {Lists} lists
 * @property {import("./endpoints.js").Places["attribution"]} attribution of regions and cities
 * @property {import("./endpoints.js").TopUrl[]} topUrls of a workspace
 * @property {RequestPage} requests the newest
 */

// Enough rows for a table, few enough to load quickly.
const MAX_VALUES = 100;
const MAX_PLACES = 250;
const WORKSPACE_PAUSE = 10_000;
/** @type {Record<Kind, string | undefined>} */
const API_KINDS = { all: undefined, click: "click", refused: "refused", notCounted: "head,prefetch,crawler,ignored" };

export class Report {
    /** The choice for which the figures were loaded. */
    #loaded = "";
    #readCounts;

    /** @param {string | null} id of a link; null: the links of the workspace */
    constructor(id) {
        this.id = id;
        this.#readCounts = overviewReader(id);
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

    get isOfLink() {
        return this.id !== null;
    }

    /** Milliseconds from one reading of the counts to the next: those of a workspace take longer to add up. */
    get pause() {
        return this.isOfLink ? undefined : WORKSPACE_PAUSE;
    }

    /** The rules and the variants of the link. */
    get branches() {
        return this.figures.value?.overview.branches ?? [];
    }

    /** Whether the figures on display are those of the address. */
    get isCurrent() {
        const { period, filters } = this.figures.value ?? {};
        return JSON.stringify([period, filters]) === JSON.stringify([periodOf(query.value), parametersOf(query.value, this.isOfLink)]);
    }

    /**
     * Loads the figures if the choice or a count has changed.
     * @param {AbortSignal} aborted
     * @returns {Promise<"repeat" | "failed" | "done">} "done": there is nothing to wait for
     */
    async refresh(aborted) {
        const period = periodOf(query.value);
        const filters = parametersOf(query.value, this.isOfLink);
        const kind = this.kind.value;
        try {
            const [counts] = await Promise.all([period.isLive ? this.#counts(aborted) : "", this.#readLink()]);
            const requested = JSON.stringify([period, filters, kind, counts]);
            if (requested !== this.#loaded) {
                this.figures.value = await this.#load(period, filters, kind, aborted);
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
            if (!this.isCurrent || !isTemporary(error)) {
                this.failure.value = messageOf(error);
                this.error.value = error;
            }
            return isTemporary(error) ? "failed" : "done";
        }
    }

    async #readLink() {
        // Without `peek`, the caller would start again when the link arrives.
        if (this.id === null || this.link.peek() !== null) return;
        // A report without its annotations is better than none.
        this.#readChanges(this.id).catch(() => null);
        this.link.value = await readLink(this.id);
    }

    /** @param {string} id */
    async #readChanges(id) {
        const { listLinkChanges } = await import("../history/endpoints.js");
        this.changes.value = (await listLinkChanges(id, {})).changes;
    }

    /**
     * Counts of the current and the previous UTC day. They change with every request that the service counts, and cost
     * little to read, because the service stores them by UTC day and sends them only after a change.
     * @param {AbortSignal} aborted
     */
    async #counts(aborted) {
        const startDate = addDays(today("UTC"), -1);
        const counted = await this.#readCounts({ startDate, limit: 1 }, aborted);
        const { totalClicks, uniqueClicks, notCounted, refused } = counted;
        return JSON.stringify([totalClicks, uniqueClicks, notCounted, refused]);
    }

    /**
     * @param {import("./endpoints.js").OverviewQuery} parameters
     * @param {AbortSignal} [aborted]
     * @returns {Promise<Overview>}
     */
    #read(parameters, aborted) {
        return this.id === null ? readWorkspace(parameters, aborted) : readOverview(this.id, parameters, aborted);
    }

    /**
     * A page of the log that follows the cursor.
     * @param {Figures} figures
     * @param {string} cursor
     */
    readOlder(figures, cursor) {
        return listRequests(this.id, { ...logQuery(figures), cursor });
    }

    /**
     * The report or its log as a file.
     * @param {Figures} figures
     * @param {"report" | "clicks"} part
     * @param {string} format
     */
    readFile(figures, part, format) {
        const { period, filters } = figures;
        const ofReport = { ...filters, ...daysQuery(period), interval: intervalOf(period), limit: MAX_VALUES };
        return readFile(this.id, part, { ...(part === "clicks" ? logQuery(figures) : ofReport), format });
    }

    /**
     * The clicks of these figures by a property.
     * @param {Figures} figures
     * @param {GroupBy} groupBy
     */
    async readGroups({ period, filters }, groupBy) {
        const parameters = { ...filters, ...daysQuery(period), limit: MAX_VALUES, groupBy };
        return (await this.#read(/** @type {any} */ (parameters))).groups ?? [];
    }

    /**
     * @param {Period} period
     * @param {Record<string, string>} filters
     * @param {Kind} kind
     * @param {AbortSignal} aborted
     * @returns {Promise<Figures>}
     */
    async #load(period, filters, kind, aborted) {
        const days = { ...filters, ...daysQuery(period) };
        const interval = intervalOf(period);
        const limit = MAX_VALUES;
        const { id } = this;
        const compare = period.comparison || undefined;
        const [overview, devices, places, requests] = await Promise.all([
            this.#read({ ...days, interval, limit, compare }, aborted),
            id === null ? null : readDevices(id, { ...days, limit }, aborted),
            id === null ? null : readPlaces(id, { ...days, limit: MAX_PLACES }, aborted),
            listRequests(id, logQuery({ period, filters, kind }), aborted),
        ]);
        return {
            period,
            filters,
            kind,
            overview,
            before: overview.compared ?? null,
            lists: listsOf(overview, devices, places),
            attribution: places?.attribution,
            topUrls: overview.topUrls ?? [],
            requests,
        };
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
    return [report.isOfLink ? link?.customCode || link?.shortCode : "clicks", part, days?.start, days?.end].filter(Boolean).join("-");
}

/** The API has no weeks. @param {Period} period @returns {"hour" | "day" | "month"} */
const intervalOf = ({ interval }) => (interval === "week" ? "day" : interval);

/**
 * The requests of the report, of one kind.
 * @param {Pick<Figures, "period" | "filters" | "kind">} figures
 */
const logQuery = ({ period, filters, kind }) => ({ ...filters, ...daysQuery(period), kind: API_KINDS[kind] ?? filters.kind });

/** Without a period and dates, a report of a workspace has its last days only. @param {Period} period */
function daysQuery({ zone, days }) {
    return days === null ? { period: /** @type {const} */ ("all"), timezone: zone } : { startDate: days.start, endDate: days.end, timezone: zone };
}
