import { html } from "../../core/html.js";
import { PageTurner } from "../../parts/page_turner.js";
import { change, filters, shown } from "./state.js";

export function Pages() {
    const pagination = shown.value?.pagination;
    if (pagination === undefined || pagination.total === 0) return null;
    /** @param {number} next */
    const turn = next => {
        change({ page: next === 1 ? "" : next });
        scrollTo(0, 0);
    };
    return html`<${PageTurner} pagination=${pagination} page=${filters.value.page} onTurn=${turn} />`;
}
