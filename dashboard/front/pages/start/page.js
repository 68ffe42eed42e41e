/** First steps: one link, its QR code, and its first click. The address names the link, so a reload keeps it. */
import { ApiError } from "../../core/api.js";
import { readLink } from "../../core/endpoints.js";
import { messageOf } from "../../core/failures.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { query } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { Head } from "../../parts/head.js";
import { Missing } from "../../parts/missing.js";
import { Skeleton } from "../../parts/skeleton.js";
import { FirstLink } from "./first_link.js";
import { Steps } from "./steps.js";

export function Page() {
    const id = query.value.get("link");
    return html`
        <${Head} title=${t("start.title")} />
        ${id === null ? html`<${FirstLink} />` : html`<div class="body"><${CreatedLink} key=${id} id=${id} /></div>`}
    `;
}

/** @param {{id: string}} properties */
function CreatedLink({ id }) {
    const link = useSignal(/** @type {import("../../core/endpoints.js").Url | null} */ (null));
    const failure = useSignal(/** @type {unknown} */ (null));
    const attempts = useSignal(0);
    const isReachable = recoveries.value;
    useEffect(() => {
        if (link.value !== null) return;
        readLink(encodeURIComponent(id)).then(
            read => {
                link.value = read;
                failure.value = null;
            },
            error => (failure.value = error),
        );
    }, [isReachable, attempts.value]);
    const error = failure.value;
    if (error !== null) {
        const isGone = error instanceof ApiError && error.status === 404;
        return html`<${Missing} isGone=${isGone} message=${messageOf(error)} onRetry=${() => attempts.value++} />`;
    }
    if (link.value === null) return html`<div class="body"><${Skeleton} shape="cards" count=${2} /></div>`;
    return html`<${Steps} link=${link.value} />`;
}
