/** The report of a link. */
import { ApiError } from "../../core/api.js";
import { copy } from "../../core/clipboard.js";
import { html, useMemo } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { loadStyle } from "../../core/styles.js";
import { t } from "../../core/texts.js";
import { Head } from "../../parts/head.js";
import { Icon } from "../../parts/icon.js";
import { Missing } from "../../parts/missing.js";
import { Sign } from "../../parts/sign.js";
import { Skeleton } from "../../parts/skeleton.js";
import { Body, useFigures } from "./body.js";
import { Report } from "./report.js";
import { ShareButton } from "./share_button.js";

await loadStyle("pages/report/report.css");

/** @param {{id: string}} properties */
export function Page({ id }) {
    const report = useMemo(() => new Report(id), []);
    const retry = useFigures(report);
    const error = report.error.value;
    const isGone = error instanceof ApiError && error.status === 404;
    // The name of the link can have several lines, so what is below it waits for it.
    const isKnown = report.link.value !== null || report.failure.value !== null;
    return html`
        <${Heading} report=${report} />
        ${isGone && html`<${Missing} isGone message=${null} history=${id} onRetry=${retry} />`}
        ${!isGone && (isKnown ? html`<${Body} report=${report} onRetry=${retry} />` : html`<${Skeleton} shape="figures" count=${5} />`)}
    `;
}

/** @param {{report: Report}} properties */
function Heading({ report }) {
    const link = report.link.value;
    const name = link === null ? "" : withoutScheme(link.shortUrl);
    return html`
        <${Head}
            title=${t("report.title")}
            shown=${link === null ? t("report.title") : t("report.of", { name: link.title || name })}
            back=${{ address: `/dashboard/links/${report.id}`, label: t("history.back") }}
            mark=${link?.title && html`<${Sign} address=${link.shortUrl} isLink />`}
        >
            <button class="icon-button md" disabled=${link === null} aria-label=${t("links.copy", { name })} title=${t("links.copyShort")} onClick=${() => copy(link?.shortUrl ?? "")}>
                <${Icon} name="copy" />
            </button>
            <${ShareButton} urlId=${report.id} />
            <a role="button" href=${`/dashboard/links/${report.id}`} aria-label=${t("editor.edit")}><${Icon} name="pencil" /><span class="wide-only">${t("editor.edit")}</span></a>
        <//>
    `;
}
