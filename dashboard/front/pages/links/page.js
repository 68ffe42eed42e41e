/** The list of links: search, filters, sorting, pages, and bulk actions. */
import { html, useEffect, useMemo, useRef, useSignalEffect } from "../../core/html.js";
import { useShortcuts } from "../../core/keys.js";
import { path, query } from "../../core/router.js";
import { loadStyle } from "../../core/styles.js";
import { loadTags } from "../../core/tags.js";
import { t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { useGrowing } from "../../parts/gradual.js";
import { Icon } from "../../parts/icon.js";
import { SavedViews } from "../../parts/saved_views.js";
import { Skeleton } from "../../parts/skeleton.js";
import { BulkEditDialog } from "./bulk_dialog.js";
import { Empty } from "./empty.js";
import { Filters, focusSearch } from "./filters.js";
import { Heading } from "./heading.js";
import { MovingDialog } from "./moving.js";
import { Pages } from "./pages.js";
import { copyFocused, moveFocus, openFocused, showQrCodeOfFocused, toggleFocused } from "./row_keys.js";
import { Selection } from "./selection.js";
import { QrDialog } from "./qr_dialog.js";
import { SheetDialog } from "./sheet_dialog.js";
import { change, failure, filters, isBare, isLoading, load, rows, shown } from "./state.js";
import { Table } from "./table.js";
import { VIEWS_OF_LINKS } from "./view_filters.js";

await loadStyle("pages/links/links.css");

export function Page() {
    // The rows that an earlier visit has loaded are drawn at once: when the user goes back, the browser scrolls to where
    // they were.
    const kept = useMemo(() => rows.peek().length, []);
    const drawn = useGrowing(2, 1, kept > 0 ? 2 : 1);
    useEffect(() => {
        loadTags();
    }, []);
    useSignalEffect(() => {
        // A change of the address, or the return of the service, loads the list.
        void query.value;
        void recoveries.value;
        if (path.value === "/dashboard/") load();
    });
    useShortcuts([
        { key: "/", label: () => t("keys.search"), run: focusSearch },
        { key: "j", label: () => t("keys.down"), run: () => moveFocus(1) },
        { key: "k", label: () => t("keys.up"), run: () => moveFocus(-1) },
        { key: "x", label: () => t("keys.select"), run: toggleFocused },
        { key: "y", label: () => t("keys.copy"), run: copyFocused },
        { key: "e", label: () => t("keys.edit"), run: () => openFocused("") },
        { key: "r", label: () => t("keys.report"), run: () => openFocused("/report") },
        { key: "q", label: () => t("keys.qr"), run: showQrCodeOfFocused },
    ]);
    return html`
        <${Heading} />
        ${drawn > 1 &&
        html`
            ${!isBare.value && html`<${SavedViews} of=${VIEWS_OF_LINKS} /><${Filters} />`}
            <${Selection} />
            <${MovingDialog} />
            <${BulkEditDialog} />
            <${QrDialog} />
            <${SheetDialog} />
            ${failure.value !== null && html`<p role="alert" class="failure problem">${failure.value}</p>`}
            <${Banned} />
            <${Found} kept=${kept} />
        `}
    `;
}

/** Visitors do not reach these links, whatever their owner does. */
function Banned() {
    const count = rows.value.filter(({ status }) => status === "banned").length;
    if (count === 0) return null;
    return html`
        <p class="note bad in-page" role="status">
            <${Icon} name="shield-alert" />
            <span>${t("banned.links", { count })}</span>
            ${filters.value.status !== "banned" &&
            html`<button class="small-button" onClick=${() => change({ status: "banned" })}>${t("banned.show")}</button>`}
        </p>
    `;
}

// They fill the first screen.
const ROWS_AT_ONCE = 10;
const SKELETON_ROWS = 6;

/** @param {{kept: number}} properties the number of rows to draw at once, if there are many */
function Found({ kept }) {
    const drawn = useGrowing(rows.value.length, ROWS_AT_ONCE, Math.max(ROWS_AT_ONCE, kept));
    // The buttons come after the first rows, so that they do not move. Then they stay, and keep the focus.
    const isComplete = useRef(false);
    isComplete.current ||= rows.value.length > 0 && drawn >= rows.value.length;
    return html`
        <section class="found" aria-busy=${isLoading.value && shown.value === null} aria-label=${t("links.title")}>
            ${shown.value === null && failure.value === null && html`<${Skeleton} shape="rows" count=${SKELETON_ROWS} />`}
            ${shown.value !== null && html`<${Table} count=${drawn} />`}
            <${Empty} />
        </section>
        ${(isComplete.current || rows.value.length === 0) && html`<${Pages} />`}
    `;
}
