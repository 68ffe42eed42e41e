/** The links that were deleted in the last days, and the way back for each. */
import { lacks, may } from "../../core/account.js";
import { dateAndTime, number } from "../../core/format.js";
import { hostOf, hueOf, withoutScheme } from "../../core/hues.js";
import { html, useSignal } from "../../core/html.js";
import { navigate, query } from "../../core/router.js";
import { destinationOf } from "../../core/status.js";
import { loadStyle } from "../../core/styles.js";
import { t } from "../../core/texts.js";
import { Head, toLinks } from "../../parts/head.js";
import { Icon } from "../../parts/icon.js";
import { useLoaded } from "../../parts/loaded.js";
import { PageTurner } from "../../parts/page_turner.js";
import { Sign } from "../../parts/sign.js";
import { Skeleton } from "../../parts/skeleton.js";
import { listDeleted } from "./endpoints.js";
import { bringBack } from "./bringing_back.js";

/** @typedef {import("./endpoints.js").RestorableUrl} RestorableUrl */

await loadStyle("pages/deleted/deleted.css");

const PAGE_SIZE = 50;
const DAY_MILLISECONDS = 86_400_000;

export function Page() {
    const page = Math.max(1, Number.parseInt(query.value.get("page") ?? "", 10) || 1);
    const loaded = useLoaded(() => listDeleted({ page, limit: PAGE_SIZE }), [page]);
    /** @type {import("../../core/html.js").Signal<ReadonlySet<string>>} the ids of the chosen links */
    const chosen = useSignal(new Set());
    const isBusy = useSignal(false);
    const { value, failure } = loaded;
    /** @param {RestorableUrl[]} links */
    const run = async links => {
        isBusy.value = true;
        await bringBack(links);
        chosen.value = new Set();
        await loaded.refresh();
        isBusy.value = false;
        // The buttons of what came back are gone, and with them the focus.
        if (document.activeElement === document.body) document.getElementById("content")?.focus();
    };
    const turn = (/** @type {number} */ next) => navigate(`/dashboard/deleted${next > 1 ? `?page=${next}` : ""}`);
    return html`
        <${Head} title=${t("deleted.title")} back=${toLinks()} />
        <p class="lead-in">${t("deleted.text")} ${lacks("editor") && t("deleted.viewer")}</p>
        ${failure !== null && html`<p role="alert" class="failure problem">${failure}</p>`}
        ${value === null && failure === null && html`<${Skeleton} shape="rows" count=${SKELETON_ROWS} />`}
        ${value?.urls.length === 0 && html`<${Nothing} isBeyond=${value.pagination.total > 0} />`}
        ${value !== null &&
        value.urls.length > 0 &&
        html`
            ${may("editor") && html`<${Chosen} urls=${value.urls} chosen=${chosen} isBusy=${isBusy.value} onRun=${run} />`}
            <ul class="deleted" aria-label=${t("deleted.title")}>
                ${value.urls.map(
                    link => html`<${Row} key=${link._id} link=${link} chosen=${chosen} isBusy=${isBusy.value} onRun=${run} />`,
                )}
            </ul>
            <${PageTurner} pagination=${value.pagination} page=${page} onTurn=${turn} />
        `}
    `;
}

/** @param {{isBeyond: boolean}} properties whether there are links on earlier pages */
const Nothing = ({ isBeyond }) => html`
    <div class="blank">
        <${Icon} name="trash-2" />
        <p>${t(isBeyond ? "deleted.beyond" : "deleted.none")}</p>
        <a class="button" href=${isBeyond ? "/dashboard/deleted" : "/dashboard/"}>${t(isBeyond ? "deleted.first" : "start.list")}</a>
    </div>
`;

const SKELETON_ROWS = 4;

/**
 * The choice of all links of the page, and the button for the chosen ones.
 * @param {object} properties
 * @param {RestorableUrl[]} properties.urls
 * @param {import("../../core/html.js").Signal<ReadonlySet<string>>} properties.chosen
 * @param {boolean} properties.isBusy
 * @param {(links: RestorableUrl[]) => Promise<void>} properties.onRun
 */
function Chosen({ urls, chosen, isBusy, onRun }) {
    const links = urls.filter(({ _id }) => chosen.value.has(_id));
    const isEvery = links.length === urls.length;
    return html`
        <div class="chosen" role="toolbar" aria-label=${t("selection.label")}>
            <label>
                <input
                    type="checkbox"
                    aria-label=${t("links.selectAll")}
                    checked=${isEvery}
                    indeterminate=${links.length > 0 && !isEvery}
                    onChange=${() => (chosen.value = new Set(isEvery ? [] : urls.map(({ _id }) => _id)))}
                />
                <span role="status">${links.length === 0 ? t("links.selectAll") : t("selection.count", { count: links.length })}</span>
            </label>
            ${links.length > 0 &&
            html`<button class="small-button" disabled=${isBusy} aria-busy=${isBusy} onClick=${() => onRun(links)}>
                <${Icon} name="undo-2" turns />${t("deleted.bringBackChosen", { count: links.length })}
            </button>`}
        </div>
    `;
}

/**
 * @param {object} properties
 * @param {RestorableUrl} properties.link
 * @param {import("../../core/html.js").Signal<ReadonlySet<string>>} properties.chosen
 * @param {boolean} properties.isBusy
 * @param {(links: RestorableUrl[]) => Promise<void>} properties.onRun
 */
function Row({ link, chosen, isBusy, onRun }) {
    const name = withoutScheme(link.shortUrl);
    const destination = destinationOf(link);
    const title = link.title || withoutScheme(destination);
    const isChosen = chosen.value.has(link._id);
    const choose = () => {
        const next = new Set(chosen.value);
        if (!next.delete(link._id)) next.add(link._id);
        chosen.value = next;
    };
    return html`
        <li data-deleted=${link._id} data-selected=${isChosen}>
            ${may("editor") &&
            html`<input type="checkbox" aria-label=${t("links.select", { name })} checked=${isChosen} onChange=${choose} />`}
            <span class="tile ${hueOf(hostOf(destination))}" aria-hidden="true">${title.trim().charAt(0).toUpperCase()}</span>
            <div>
                <strong class="cut" dir="auto">${title}</strong>
                <small class="where">
                    <${Sign} address=${link.shortUrl} />
                    <span class="leads wide-only"><${Icon} name="arrow-right" turns /><span class="cut url">${withoutScheme(destination)}</span></span>
                </small>
                <small>
                    <time datetime=${link.deletedAt}>${t("deleted.on", { time: dateAndTime(link.deletedAt) })}</time>
                    ${" · "}${t("deleted.left", { count: daysLeft(link.restorableUntil) })}
                    ${" · "}${t("deleted.clicks", { count: link.clickCount, clicks: number(link.clickCount) })}
                </small>
            </div>
            ${may("editor") &&
            html`<button aria-label=${t("deleted.bringBackOne", { name })} disabled=${isBusy} onClick=${() => onRun([link])}>
                <${Icon} name="undo-2" turns />${t("history.undelete")}
            </button>`}
        </li>
    `;
}

/** The last day counts as one. @param {string} moment */
const daysLeft = moment => Math.max(1, Math.ceil((Date.parse(moment) - Date.now()) / DAY_MILLISECONDS));
