/** The first line of a page: its title, and its actions. On phones it stays in view. */
import { html, useEffect } from "../core/html.js";
import { serviceName, t } from "../core/texts.js";
import { Icon } from "./icon.js";

/**
 * @param {object} properties
 * @param {string} properties.title
 * @param {string} [properties.shown] in the heading, instead of the title of the tab
 * @param {{address: string, label: string}} [properties.back]
 * @param {import("../core/html.js").Children} [properties.mark] beside the title
 * @param {import("../core/html.js").Children} [properties.children] the actions
 */
export function Head({ title, shown = title, back, mark, children }) {
    useEffect(() => {
        document.title = `${title} · ${serviceName()}`;
    }, [title]);
    return html`
        <div class="head">
            ${back &&
            html`<a class="icon-button" role="button" href=${back.address} aria-label=${back.label} title=${back.label}>
                <${Icon} name="arrow-left" turns />
            </a>`}
            <h1 dir="auto">${shown}</h1>
            ${mark}
            ${children && html`<div class="actions">${children}</div>`}
        </div>
    `;
}

/** The way back to the list, for the pages of a link. */
export const toLinks = () => ({ address: "/dashboard/", label: t("nav.links") });
