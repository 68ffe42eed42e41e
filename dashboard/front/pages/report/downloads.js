/** The menu that saves a report, or its log of requests, as a file of the API. */
import { report as reportFailure } from "../../core/failures.js";
import { html, useSignal } from "../../core/html.js";
import { save } from "../../core/saving.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { Menu } from "../../parts/menu.js";

/** @typedef {"csv" | "jsonl" | "parquet"} Format */

/** @type {Format[]} */
const FORMATS = ["csv", "jsonl", "parquet"];

/** @param {{report: import("./report.js").Report, figures: import("./report.js").Figures | null, part: "report" | "clicks"}} properties */
export function Downloads({ report, figures, part }) {
    const isBusy = useSignal(false);
    const label = t(isBusy.value ? "report.downloading" : `report.download.${part}`);
    // Nothing moves once there are figures.
    if (figures === null) return html`<button type="button" class="icon-button md" disabled aria-label=${label} title=${label}><${Icon} name="download" /></button>`;
    /** @param {Format} format */
    const download = async format => {
        isBusy.value = true;
        try {
            save(await report.readFile(figures, part, format));
        } catch (error) {
            reportFailure(error);
        } finally {
            isBusy.value = false;
        }
    };
    return html`
        <${Menu}
            id=${`download-${part}`}
            icon="download"
            label=${label}
            items=${() => FORMATS.map(format => html`<button key=${format} type="button" disabled=${isBusy.value} onClick=${() => download(format)}><${Icon} name="download" />${t(`report.format.${format}`)}</button>`)}
        />
    `;
}
