/** The heading of the pages about the account, with links to the others. */
import { html, useEffect } from "../../core/html.js";
import { path } from "../../core/router.js";
import { serviceName, t } from "../../core/texts.js";

/** @typedef {import("../../core/texts.js").Key} Key */

/** @type {{address: string, label: Key}[]} */
const SECTIONS = [
    { address: "/dashboard/account", label: "account.title" },
    { address: "/dashboard/workspaces", label: "workspaces.title" },
    { address: "/dashboard/keys", label: "apiKeys.pageTitle" },
    { address: "/dashboard/history", label: "history.title" },
];

/** @param {{title: string}} properties */
export function AccountHeading({ title }) {
    useEffect(() => {
        document.title = `${title} · ${serviceName()}`;
    }, [title]);
    return html`
        <nav aria-label=${t("account.sections")} class="sections">
            <ul>
                ${SECTIONS.map(
                    ({ address, label }) => html`
                        <li>
                            <a href=${address} aria-current=${path.value.startsWith(address) ? "page" : undefined}>${t(label)}</a>
                        </li>
                    `,
                )}
            </ul>
        </nav>
        <h1 dir="auto">${title}</h1>
    `;
}
