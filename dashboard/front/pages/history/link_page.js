/** The history of one link, which may be deleted. */
import { html, useEffect } from "../../core/html.js";
import { serviceName, t } from "../../core/texts.js";
import { Changes } from "./changes.js";
import { listLinkChanges } from "./endpoints.js";

/** @param {{id: string}} properties */
export function Page({ id }) {
    useEffect(() => {
        document.title = `${t("history.ofLink")} · ${serviceName()}`;
    }, []);
    return html`
        <h1>${t("history.ofLink")}</h1>
        <p><a href=${`/dashboard/links/${id}`}>${t("history.back")}</a></p>
        <${Changes} filters=${id} load=${(/** @type {{cursor?: string}} */ page) => listLinkChanges(id, page)} />
    `;
}
