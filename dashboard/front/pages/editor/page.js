/** The editor of a new or an existing link. */
import { readLinkVersion } from "../../core/endpoints.js";
import { messageOf } from "../../core/failures.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { query } from "../../core/router.js";
import { serviceName, t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { Editing } from "./editing.js";
import { Form } from "./form.js";

/** @param {{id?: string}} properties without an id: a new link */
export function Page({ id }) {
    const editing = useSignal(/** @type {Editing | null} */ (null));
    const failure = useSignal(/** @type {string | null} */ (null));
    const isReachable = recoveries.value;
    useEffect(() => {
        document.title = `${t(id === undefined ? "editor.new" : "editor.edit")} · ${serviceName()}`;
        if (editing.value !== null) return;
        if (id === undefined) {
            editing.value = new Editing(null, query.value.get("url") ?? "");
            return;
        }
        readLinkVersion(id).then(
            read => (editing.value = new Editing(read)),
            error => (failure.value = messageOf(error)),
        );
    }, [isReachable]);
    if (editing.value !== null) return html`<${Form} editing=${editing.value} />`;
    if (failure.value !== null) return html`<p role="alert" class="failure">${failure.value}</p>`;
    return html`<p aria-busy="true">${t("page.loading")}</p>`;
}
