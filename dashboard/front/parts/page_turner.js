/** How many entries a list has, and the buttons for its other pages. */
import { html } from "../core/html.js";
import { t } from "../core/texts.js";

/**
 * @param {object} properties
 * @param {{pages: number, total: number, totalIsCapped?: boolean}} properties.pagination
 * @param {number} properties.page
 * @param {(page: number) => void} properties.onTurn
 * @param {"pages.total" | "tags.total" | "unknown.total"} [properties.counted] what the list has
 */
export const PageTurner = ({ pagination: { pages, total, totalIsCapped }, page, onTurn, counted = "pages.total" }) => html`
    <nav class="pages" aria-label=${t("pages.label")}>
        <span role="status">${t(totalIsCapped ? "pages.atLeast" : counted, { count: total })}</span>
        ${pages > 1 &&
        html`
            <button class="small-button" disabled=${page <= 1} onClick=${() => onTurn(page - 1)}>${t("pages.before")}</button>
            <span>${t("pages.position", { page, pages })}</span>
            <button class="small-button" disabled=${page >= pages} onClick=${() => onTurn(page + 1)}>${t("pages.after")}</button>
        `}
    </nav>
`;
