/** The history of one link, which may be deleted. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Head } from "../../parts/head.js";
import { Changes } from "./changes.js";
import { listLinkChanges } from "./endpoints.js";

/** @param {{id: string}} properties */
export const Page = ({ id }) => html`
    <${Head} title=${t("history.ofLink")} back=${{ address: `/dashboard/links/${id}`, label: t("history.back") }} />
    <div class="body">
        <${Changes} filters=${id} load=${(/** @type {{cursor?: string}} */ page) => listLinkChanges(id, page)} />
    </div>
`;
