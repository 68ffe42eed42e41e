/** The heading of the pages of the settings, with links to the others. */
import { may } from "../../core/account.js";
import { html } from "../../core/html.js";
import { path } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { Head } from "../../parts/head.js";

/** @typedef {import("../../core/texts.js").Key} Key */

/** @type {{address: string, label: Key, isForAdmins?: boolean}[]} */
const SECTIONS = [
    { address: "/dashboard/account", label: "account.title" },
    { address: "/dashboard/workspaces", label: "workspaces.title" },
    { address: "/dashboard/tags", label: "tags.title" },
    { address: "/dashboard/utm-templates", label: "templates.title" },
    { address: "/dashboard/keys", label: "apiKeys.pageTitle" },
    { address: "/dashboard/webhooks", label: "webhooks.title", isForAdmins: true },
    { address: "/dashboard/history", label: "history.title", isForAdmins: true },
];

/** @param {{title: string}} properties */
export const AccountHeading = ({ title }) => html`
    <${Head} title=${title} />
    <nav aria-label=${t("account.sections")} class="sections">
        <ul>
            ${SECTIONS.filter(({ isForAdmins }) => !isForAdmins || may("admin")).map(
                ({ address, label }) => html`
                    <li>
                        <a href=${address} aria-current=${path.value.startsWith(address) ? "page" : undefined}>${t(label)}</a>
                    </li>
                `,
            )}
        </ul>
    </nav>
`;
