/** One domain: its state, and below it, collapsed, the records, the settings, the deletion and the unknown codes. */
import { lacks } from "../../core/account.js";
import { messageOf } from "../../core/failures.js";
import { dateAndTime } from "../../core/format.js";
import { html, useEffect, useRef, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { Failed } from "../../parts/failed.js";
import { Skeleton } from "../../parts/skeleton.js";
import { AppLinks } from "./app_links.js";
import { Deletion } from "./deletion.js";
import { readDomain } from "./endpoints.js";
import { Fallbacks } from "./fallbacks.js";
import { Moving } from "./moving.js";
import { Records } from "./records.js";
import { added } from "./state.js";
import { UnknownCodes } from "./unknown_codes.js";
import { PageWords } from "./words.js";

/** @typedef {import("./endpoints.js").ListedDomain} ListedDomain */

/** @param {{domain: ListedDomain}} properties */
export function Card({ domain }) {
    const isOpen = useSignal(domain.status !== "active");
    const summary = useRef(/** @type {HTMLElement | null} */ (null));
    useEffect(() => {
        if (added.value !== domain._id) return;
        added.value = "";
        summary.current?.focus();
    }, []);
    return html`
        <article class="domain box" data-domain=${domain._id} data-status=${domain.status}>
            <div class="heading">
                <h2><bdi>${domain.fullDomain}</bdi></h2>
                <span class="state" data-state=${domain.status}>${t(`domain.${domain.status}`)}</span>
            </div>
            <p>
                ${explanation(domain)}${" "}
                ${domain.status !== "pending" && html`<a href=${`/dashboard/analytics?domainId=${domain._id}`} aria-label=${`${t("analytics.title")}: ${domain.fullDomain}`}>${t("analytics.title")}</a>`}
            </p>
            <details open=${isOpen.value} onToggle=${(/** @type {any} */ event) => (isOpen.value = event.target.open)}>
                <summary ref=${summary}>${t("domain.details")}</summary>
                ${isOpen.value && html`<${Details} id=${domain._id} />`}
            </details>
            ${domain.status !== "pending" && html`<${UnknownCodes} id=${domain._id} />`}
        </article>
    `;
}

/** @param {ListedDomain} domain */
function explanation({ status, verifyBefore, nextCheckAt }) {
    if (status === "pending" && verifyBefore !== null) return t("domain.pendingText", { time: dateAndTime(verifyBefore) });
    if (status === "active" && nextCheckAt !== null) return t("domain.activeText", { time: dateAndTime(nextCheckAt) });
    return t("domain.inactiveText");
}

/** @param {{id: string}} properties */
function Details({ id }) {
    const domain = useSignal(/** @type {import("./endpoints.js").Domain | null} */ (null));
    const failure = useSignal(/** @type {string | null} */ (null));
    const isReachable = recoveries.value;
    const load = () =>
        readDomain(id).then(
            read => {
                domain.value = read;
                failure.value = null;
            },
            error => (failure.value = messageOf(error)),
        );
    useEffect(() => {
        if (domain.value === null) load();
    }, [isReachable]);
    if (failure.value !== null) return html`<${Failed} message=${failure.value} onRetry=${load} />`;
    if (domain.value === null) return html`<${Skeleton} shape="cards" count=${2} />`;
    return html`
        <${Records} domain=${domain.value} />
        ${!lacks("admin") && html`<${Fallbacks} domain=${domain.value} /><${PageWords} domain=${domain.value} /><${AppLinks} domain=${domain.value} />`}
        ${!lacks("admin") &&
        html`<div class="actions">
            <${Moving} domain=${domain.value} />
            <${Deletion} domain=${domain.value} />
        </div>`}
    `;
}
