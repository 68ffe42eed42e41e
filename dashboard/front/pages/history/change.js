/** One change: who made it, when, and the fields before and after it. */
import { dateAndTime } from "../../core/format.js";
import { html, useSignal } from "../../core/html.js";
import { t, textOr } from "../../core/texts.js";
import { actorOf } from "./actors.js";

/** @typedef {import("./endpoints.js").Change} Change */

/** An archival has a name of its own. @param {Change} change */
function titleOf({ action, after }) {
    const isArchival = action === "link.updated" && Object.keys(after).join() === "isArchived";
    return isArchival ? t(after.isArchived ? "history.archived" : "history.unarchived") : textOr(`action.${action}`, action);
}

/** @param {Change} change */
const isOfLiveLink = ({ action }) => action.startsWith("link.") && action !== "link.deleted" && action !== "link.moved_out";

/** @param {unknown} value of a field */
function shown(value) {
    if (value === null || value === undefined || value === "") return t("history.empty");
    if (typeof value === "boolean") return t(value ? "history.yes" : "history.no");
    if (Array.isArray(value) && value.every(item => typeof item === "string")) return value.join(", ") || t("history.empty");
    return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * The name of a deleted link, or of the person whom the change concerns.
 * @param {Change} change
 */
const nameOf = ({ action, before, subject }) => (action === "link.deleted" ? String(before.title || before.originalUrl) : subject);

/**
 * @param {object} properties
 * @param {Change} properties.change
 * @param {"restore" | "undelete" | null} properties.remedy
 * @param {(change: Change, remedy: "restore" | "undelete") => Promise<void>} properties.onApply
 */
export function ChangeRow({ change, remedy, onApply }) {
    const isBusy = useSignal(false);
    const time = dateAndTime(change.changedAt);
    const name = nameOf(change);
    const apply = async () => {
        isBusy.value = true;
        await onApply(change, remedy ?? "restore");
        isBusy.value = false;
    };
    return html`
        <li data-change=${change._id} data-action=${change.action}>
            <div>
                <strong>${titleOf(change)}</strong>
                ${name !== null && html` <span dir="auto">${name}</span>`}
                <small>
                    <time datetime=${change.changedAt}>${time}</time> · <span dir="auto">${actorOf(change)}</span>
                    ${isOfLiveLink(change) &&
                    html` · <a href=${`/dashboard/links/${change.objectId}`}>${t("history.openLink")}</a>`}
                </small>
                <${Fields} change=${change} />
            </div>
            ${remedy !== null &&
            html`<button
                type="button"
                
                aria-label=${t(remedy === "restore" ? "history.restoreOne" : "history.undeleteOne", { time })}
                aria-busy=${isBusy.value}
                disabled=${isBusy.value}
                onClick=${apply}
            >
                ${t(remedy === "restore" ? "history.restore" : "history.undelete")}
            </button>`}
        </li>
    `;
}

/** @param {{change: Change}} properties */
function Fields({ change: { before, after } }) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    if (names.length === 0) return null;
    return html`
        <details open=${names.length <= 3}>
            <summary>${t("history.fields", { count: names.length })}</summary>
            <dl class="fields">
                ${names.map(
                    name => html`
                        <dt>${textOr(`field.${name}`, name)}</dt>
                        <dd dir="auto">
                            ${name in before && html`<del>${shown(before[name])}</del> `}
                            ${name in after && html`<ins>${shown(after[name])}</ins>`}
                        </dd>
                    `,
                )}
            </dl>
        </details>
    `;
}
