/** The editor of a new or an existing link. */
import { ApiError } from "../../core/api.js";
import { readLink, readLinkVersion } from "../../core/endpoints.js";
import { messageOf } from "../../core/failures.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { query } from "../../core/router.js";
import { loadStyle } from "../../core/styles.js";
import { t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { Head, toLinks } from "../../parts/head.js";
import { Missing } from "../../parts/missing.js";
import { Skeleton } from "../../parts/skeleton.js";
import { Editing } from "./editing.js";
import { Form } from "./form.js";

await loadStyle("pages/editor/editor.css");

/** @param {string | undefined} id */
async function start(id) {
    const original = query.value.get("from");
    if (id !== undefined) return new Editing(await readLinkVersion(id));
    const copied = original === null ? null : await readLink(encodeURIComponent(original));
    return new Editing(null, given(), copied);
}

/** The fields in the address of the page. @returns {Partial<import("./model.js").Fields>} */
function given() {
    const [originalUrl, customCode, domainId] = ["url", "code", "domain"].map(name => query.value.get(name));
    return { ...(originalUrl && { originalUrl }), ...(customCode && { customCode }), ...(domainId && { domainId }) };
}

/** @param {{id?: string}} properties without an id: a new link */
export function Page({ id }) {
    const editing = useSignal(/** @type {Editing | null} */ (null));
    const failure = useSignal(/** @type {unknown} */ (null));
    const attempts = useSignal(0);
    const isReachable = recoveries.value;
    useEffect(() => {
        if (editing.value !== null) return;
        start(id).then(
            started => (editing.value = started),
            error => (failure.value = error),
        );
    }, [isReachable, attempts.value]);
    if (editing.value !== null) return html`<${Form} editing=${editing.value} />`;
    const error = failure.value;
    const retry = () => {
        failure.value = null;
        attempts.value++;
    };
    return html`
        <${Head} title=${t(id === undefined ? "editor.new" : "editor.edit")} back=${toLinks()} />
        ${error === null
            ? html`<div class="body"><${Skeleton} shape="inputs" count=${5} /></div>`
            : html`<${Missing}
                  isGone=${error instanceof ApiError && error.status === 404}
                  message=${messageOf(error)}
                  history=${id}
                  onRetry=${retry}
              />`}
    `;
}
