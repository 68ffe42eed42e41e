/** First steps: one link, its QR code, and its first click. The address names the link, so a reload keeps it. */
import { readLink } from "../../core/endpoints.js";
import { messageOf } from "../../core/failures.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { query } from "../../core/router.js";
import { serviceName, t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { FirstLink } from "./first_link.js";
import { Steps } from "./steps.js";

export function Page() {
    const id = query.value.get("link");
    useEffect(() => {
        document.title = `${t("start.title")} · ${serviceName()}`;
    }, []);
    return html`
        <h1>${t("start.title")}</h1>
        ${id === null ? html`<${FirstLink} />` : html`<${CreatedLink} key=${id} id=${id} />`}
    `;
}

/** @param {{id: string}} properties */
function CreatedLink({ id }) {
    const link = useSignal(/** @type {import("../../core/endpoints.js").Url | null} */ (null));
    const failure = useSignal(/** @type {string | null} */ (null));
    const isReachable = recoveries.value;
    useEffect(() => {
        if (link.value !== null) return;
        readLink(encodeURIComponent(id)).then(
            read => {
                link.value = read;
                failure.value = null;
            },
            error => (failure.value = messageOf(error)),
        );
    }, [isReachable]);
    if (failure.value !== null) return html`<p role="alert" class="failure">${failure.value}</p>`;
    if (link.value === null) return html`<p aria-busy="true">${t("page.loading")}</p>`;
    return html`<${Steps} link=${link.value} />`;
}
