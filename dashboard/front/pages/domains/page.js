/** The custom domains: add one, publish its DNS records, verify it, and choose its fallback addresses. */
import { account, lacks } from "../../core/account.js";
import { availableDomains } from "../../core/endpoints.js";
import { html, useEffect } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { Failed } from "../../parts/failed.js";
import { Head } from "../../parts/head.js";
import { useLoaded } from "../../parts/loaded.js";
import { Skeleton } from "../../parts/skeleton.js";
import { Adding } from "./adding.js";
import { Card } from "./card.js";
import { domains, failure, load } from "./state.js";
import { UnknownCodes } from "./unknown_codes.js";

const BASE = "base";

export function Page() {
    const isReachable = recoveries.value;
    useEffect(() => {
        load();
    }, [isReachable]);
    return html`
        <${Head} title=${t("domains.title")} />
        <div class="body">
        <p>${t(lacks("admin") ? "domains.textForMembers" : "domains.text")}</p>
        ${!lacks("admin") && html`<${Adding} />`}
        ${failure.value !== null && html`<${Failed} message=${failure.value} onRetry=${load} />`}
        <section aria-label=${t("domains.title")}>
            ${domains.value === null && failure.value === null && html`<${Skeleton} shape="cards" count=${2} />`}
            ${domains.value?.map(domain => html`<${Card} key=${domain._id} domain=${domain} />`)}
            ${domains.value?.length === 0 && html`<p>${t("domains.none")}</p>`}
        </section>
        ${account.value?.isStaff && html`<${Base} />`}
        </div>
    `;
}

/** The domain of the service, whose unknown codes the API gives to operators alone. */
function Base() {
    const host = useLoaded(availableDomains).value?.find(({ id }) => id === BASE)?.fullDomain;
    return html`
        <article class="domain box" data-domain=${BASE}>
            <div class="heading">
                <h2><bdi>${host ?? t("domains.base")}</bdi></h2>
                <span class="state">${t("domains.base")}</span>
            </div>
            <p>${t("domains.baseText")}</p>
            <${UnknownCodes} id=${BASE} />
        </article>
    `;
}
