/** The short link that is being edited, with its figures. */
import { copy } from "../../core/clipboard.js";
import { dateAndTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";

/** @param {{editing: import("./editing.js").Editing}} properties */
export function Summary({ editing }) {
    const link = editing.link.value;
    if (link === null) return null;
    return html`
        <p class="summary">
            <a href=${link.shortUrl} target="_blank" rel="noopener noreferrer">${link.shortUrl}</a>
            <button class="copy outline secondary" onClick=${() => copy(link.shortUrl)}>${t("links.copyShort")}</button>
            <a href=${`/dashboard/links/${link._id}/report`}>${t("summary.clicks", { count: link.clickCount })}</a>
            <span>${t("summary.changed", { time: dateAndTime(link.updatedAt) })}</span>
            <a href=${`/dashboard/links/${link._id}/history`}>${t("history.title")}</a>
        </p>
    `;
}
