/** A bookmark that creates a link to the current page. */
import { copy } from "../core/clipboard.js";
import { html } from "../core/html.js";
import { t } from "../core/texts.js";
import { toast } from "../core/toasts.js";
import { inWorkspace } from "../core/workspace.js";

/** It opens a new tab, so that the current page keeps its input. */
export function bookmarklet() {
    const page = inWorkspace("/dashboard/new");
    const start = `${location.origin}${page}${page.includes("?") ? "&" : "?"}url=`;
    return `javascript:void open(${JSON.stringify(start)}+encodeURIComponent(location.href))`;
}

export const Bookmarklet = () => html`
    <p>${t("bookmarklet.text")}</p>
    <p class="summary">
        <a
            class="bookmarklet"
            role="button"
            href=${bookmarklet()}
            onClick=${(/** @type {Event} */ event) => {
                // The content security policy of this page blocks such URLs. As bookmarks they work.
                event.preventDefault();
                toast(t("bookmarklet.drag"));
            }}
        >
            ${t("bookmarklet.name")}
        </a>
        <button type="button" class="copy" onClick=${() => copy(bookmarklet())}>${t("bookmarklet.copy")}</button>
    </p>
`;
