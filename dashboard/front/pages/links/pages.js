import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { change, filters, shown } from "./state.js";

export function Pages() {
    const pagination = shown.value?.pagination;
    if (pagination === undefined || pagination.total === 0) return null;
    const { pages, total, totalIsCapped } = pagination;
    const { page } = filters.value;
    const counted = t(totalIsCapped ? "pages.atLeast" : "pages.total", { count: total });
    /** @param {number} next */
    const turn = next => {
        change({ page: next === 1 ? "" : next });
        scrollTo(0, 0);
    };
    return html`
        <nav class="pages" aria-label=${t("pages.label")}>
            <span role="status">${counted}</span>
            ${pages > 1 &&
            html`
                <button class="small-button" disabled=${page <= 1} onClick=${() => turn(page - 1)}>${t("pages.before")}</button>
                <span>${t("pages.position", { page, pages })}</span>
                <button class="small-button" disabled=${page >= pages} onClick=${() => turn(page + 1)}>${t("pages.after")}</button>
            `}
        </nav>
    `;
}
