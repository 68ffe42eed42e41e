/** The individual requests, newest first. New ones appear at the top. */
import { report as reportFailure } from "../../core/failures.js";
import { html, useLayoutEffect, useRef, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { DataTable } from "./data_table.js";
import { fileName } from "./report.js";
import { columnsOfLog, rowsOfLog } from "./request_rows.js";

/** @typedef {import("./report.js").RequestPage} RequestPage */
/** @typedef {{clicks: RequestPage["clicks"], cursor: string | null}} Log */

/** @type {import("./report.js").Kind[]} */
const KINDS = ["all", "click", "refused", "notCounted"];

/** @param {{report: import("./report.js").Report, figures: import("./report.js").Figures, requests: RequestPage}} properties */
export function RequestLog({ report, figures, requests }) {
    const log = useSignal(/** @type {Log} */ ({ clicks: [], cursor: null }));
    const choice = useRef("");
    // Before the browser paints, so that the log and the other figures change together.
    useLayoutEffect(() => {
        const { days, zone } = figures.period;
        const current = JSON.stringify([days, zone, figures.filters, figures.kind]);
        log.value = merged(requests, current === choice.current ? log.value.clicks : [], log.value.cursor);
        choice.current = current;
    }, [figures]);

    const readOlder = async () => {
        const { cursor } = log.value;
        if (cursor === null) return;
        try {
            const { clicks, pagination } = await report.readOlder(figures, cursor);
            // Newer requests may have arrived at the top meanwhile. Another choice starts a log of its own.
            if (log.value.cursor !== cursor) return;
            log.value = { clicks: [...log.value.clicks, ...clicks], cursor: pagination.nextCursor };
        } catch (error) {
            reportFailure(error);
        }
    };
    return html`
        <form class="log-kind" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
            <label>
                ${t("report.kinds")}
                <select
                    name="kind"
                    value=${report.kind.value}
                    onChange=${(/** @type {any} */ event) => (report.kind.value = event.target.value)}
                >
                    ${KINDS.map(kind => html`<option value=${kind}>${t(`report.kinds.${kind}`)}</option>`)}
                </select>
            </label>
        </form>
        <${DataTable}
            title=${t("report.log")}
            file=${fileName(report, "requests")}
            columns=${columnsOfLog(figures.period.zone, report.isOfLink)}
            rows=${rowsOfLog(log.value.clicks, report.isOfLink)}
            limit=${Infinity}
        />
        ${log.value.cursor !== null &&
        html`<button onClick=${readOlder}>${t("report.older")}</button>`}
    `;
}

/**
 * The newest page, followed by the older requests on display. Only the newest page if the two have no common request.
 * @param {RequestPage} page
 * @param {RequestPage["clicks"]} shown
 * @param {string | null} cursor that follows `shown`
 * @returns {Log}
 */
function merged({ clicks, pagination }, shown, cursor) {
    const last = clicks.at(-1);
    const position = shown.findIndex(click => click._id === last?._id);
    if (position < 0) return { clicks, cursor: pagination.nextCursor };
    return { clicks: [...clicks, ...shown.slice(position + 1)], cursor };
}
