/** The message that somebody else has saved the link since it was read, with the choice between the versions. */
import { dateAndTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { changesOf, fieldsOf } from "./model.js";

/** @param {{editing: import("./editing.js").Editing, onOverwrite: () => void}} properties */
export function Conflict({ editing, onOverwrite }) {
    const theirs = editing.conflict.value;
    if (theirs === null) return null;
    const names = Object.keys(changesOf(fieldsOf(theirs.link), editing.before)).join(", ");
    return html`
        <article class="banner" data-state="conflict" role="alert">
            <p>${t("conflict.text", { time: dateAndTime(theirs.link.updatedAt), fields: names || "–" })}</p>
            <button onClick=${() => editing.merge()}>${t("conflict.merge")}</button>
            <button class="secondary" onClick=${onOverwrite}>${t("conflict.overwrite")}</button>
        </article>
    `;
}
