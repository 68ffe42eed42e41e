import { html } from "../../core/html.js";
import { PageTurner } from "../../parts/page_turner.js";
import { change, filters, rows, shown } from "./state.js";

export function Pages() {
    const pagination = shown.value?.pagination;
    if (pagination === undefined || pagination.total === 0) return null;
    /** @param {number} next */
    const turn = next => {
        change({ page: next === 1 ? "" : next });
        scrollTo(0, 0);
    };
    // Without those of the page whose deletion can still be undone.
    const total = pagination.total - ((shown.value?.urls.length ?? 0) - rows.value.length);
    return html`<${PageTurner} pagination=${{ ...pagination, total }} page=${filters.value.page} onTurn=${turn} />`;
}
