/** The list of links: search, filters, sorting, pages, and bulk actions. */
import { html, useEffect, useSignalEffect } from "../../core/html.js";
import { useShortcuts } from "../../core/keys.js";
import { path, query } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { useGrowing } from "../../parts/gradual.js";
import { Empty } from "./empty.js";
import { Filters, focusSearch } from "./filters.js";
import { Heading } from "./heading.js";
import { MovingDialog } from "./moving.js";
import { Pages } from "./pages.js";
import { copyFocused, moveFocus, openFocused, toggleFocused } from "./row_keys.js";
import { Selection } from "./selection.js";
import { failure, isLoading, load, rows, shown } from "./state.js";
import { Table } from "./table.js";

export function Page() {
    const drawn = useGrowing(2, 1);
    useSignalEffect(() => {
        // A change of the address, or the return of the service, loads the list.
        void query.value;
        void recoveries.value;
        if (path.value === "/dashboard/") load();
    });
    useEffect(() => {
        document.title = `${t("links.title")} · ${t("nav.name")}`;
    }, []);
    useShortcuts([
        { key: "/", label: () => t("keys.search"), run: focusSearch },
        { key: "j", label: () => t("keys.down"), run: () => moveFocus(1) },
        { key: "k", label: () => t("keys.up"), run: () => moveFocus(-1) },
        { key: "x", label: () => t("keys.select"), run: toggleFocused },
        { key: "y", label: () => t("keys.copy"), run: copyFocused },
        { key: "e", label: () => t("keys.edit"), run: () => openFocused("") },
        { key: "r", label: () => t("keys.report"), run: () => openFocused("/report") },
    ]);
    return html`
        <${Heading} />
        ${drawn > 1 &&
        html`
            <${Filters} />
            <${Selection} />
            <${MovingDialog} />
            ${failure.value !== null && html`<p role="alert" class="failure">${failure.value}</p>`}
            <${Found} />
        `}
    `;
}

// They fill the first screen.
const ROWS_AT_ONCE = 10;

function Found() {
    const drawn = useGrowing(rows.value.length, ROWS_AT_ONCE);
    return html`
        <section aria-busy=${isLoading.value && shown.value === null} aria-label=${t("links.title")}>
            ${shown.value !== null && html`<${Table} count=${drawn} />`}
            <${Empty} />
        </section>
        ${drawn >= rows.value.length && html`<${Pages} />`}
    `;
}
