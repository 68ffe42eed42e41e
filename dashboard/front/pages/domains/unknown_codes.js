/** The codes that visitors of a domain requested and that no link has. A click makes a link of one. */
import { may } from "../../core/account.js";
import { dateAndTime, number } from "../../core/format.js";
import { html, useSignal } from "../../core/html.js";
import { isolated, t } from "../../core/texts.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { PageTurner } from "../../parts/page_turner.js";
import { listUnknownCodes } from "./endpoints.js";

/** @typedef {import("./endpoints.js").UnknownCode} UnknownCode */

/** @param {{id: string}} properties of a domain */
export function UnknownCodes({ id }) {
    const isOpen = useSignal(false);
    return html`
        <details class="unknown-codes" onToggle=${(/** @type {any} */ event) => (isOpen.value = event.target.open)}>
            <summary>${t("unknown.title")}</summary>
            ${isOpen.value && html`<${List} id=${id} />`}
        </details>
    `;
}

/** @param {{id: string}} properties */
function List({ id }) {
    const page = useSignal(1);
    const loaded = useLoaded(() => listUnknownCodes(id, page.value), [page.value]);
    const { value } = loaded;
    return html`
        <p>${t("unknown.text")}</p>
        <${Pending} of=${loaded} />
        ${value?.codes.length === 0 && html`<p>${t("unknown.none")}</p>`}
        <ul class="cards">
            ${value?.codes.map(code => html`<${Row} key=${code.code} domain=${id} missed=${code} />`)}
        </ul>
        ${value !== null && value.otherHits > 0 && html`<p>${t("unknown.others", { count: value.otherHits, hits: number(value.otherHits) })}</p>`}
        ${value !== null &&
        value.codes.length > 0 &&
        html`<${PageTurner}
            pagination=${value.pagination}
            page=${page.value}
            onTurn=${(/** @type {number} */ next) => (page.value = next)}
            counted="unknown.total"
        />`}
    `;
}

/** @param {{domain: string, missed: UnknownCode}} properties */
const Row = ({ domain, missed: { code, hits, lastSeenAt, topReferrer, nearest, isAvailable } }) => html`
    <li data-unknown=${code}>
        <div>
            <b dir="ltr">${code}</b>
            <small>
                ${t("unknown.hits", { count: hits, hits: number(hits), time: dateAndTime(lastSeenAt) })}
                ${topReferrer !== null && ` ${t("unknown.referrer", { site: isolated(topReferrer) })}`}
            </small>
            ${nearest !== null &&
            html`<small>
                ${t(nearest.code === code ? "unknown.exists" : "unknown.near")}${" "}
                <a href=${`/dashboard/links/${nearest._id}`} dir="ltr">${nearest.code}</a>
            </small>`}
        </div>
        ${isAvailable &&
        may("editor") &&
        html`<a
            class="button"
            href=${`/dashboard/new?${new URLSearchParams({ code, domain })}`}
            aria-label=${t("unknown.createOf", { code })}
        >
            ${t("unknown.create")}
        </a>`}
    </li>
`;
