/** A list of changes, newest first, that grows as long as there are more. */
import { may } from "../../core/account.js";
import { ApiError } from "../../core/api.js";
import { messageOf, report } from "../../core/failures.js";
import { html, useEffect, useRef, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { recoveries } from "../../parts/banners.js";
import { Failed } from "../../parts/failed.js";
import { Missing } from "../../parts/missing.js";
import { Skeleton } from "../../parts/skeleton.js";
import { ChangeRow } from "./change.js";
import { restore, undelete } from "./endpoints.js";

/** @typedef {import("./endpoints.js").Change} Change */
/** @typedef {import("./endpoints.js").ChangePage} ChangePage */

const UNDELETE_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

/**
 * The button that undoes a change, if there is one.
 * @param {Change} change
 * @param {Change[]} newer changes
 * @returns {"restore" | "undelete" | null}
 */
function remedyOf(change, newer) {
    if (!may("editor")) return null;
    if (change.action === "link.updated" && Object.keys(change.before).length > 0) return "restore";
    if (change.action !== "link.deleted" || Date.now() - Date.parse(change.changedAt) > UNDELETE_MILLISECONDS) return null;
    return newer.some(({ action, objectId }) => action === "link.undeleted" && objectId === change.objectId)
        ? null
        : "undelete";
}

/** @param {{load: (query: {cursor?: string}) => Promise<ChangePage>, filters?: string}} properties */
export function Changes({ load, filters = "" }) {
    const changes = useSignal(/** @type {Change[] | null} */ (null));
    const cursor = useSignal(/** @type {string | null} */ (null));
    const failure = useSignal(/** @type {string | null} */ (null));
    /** The link itself, not only its history, is unknown. */
    const isMissing = useSignal(false);
    const last = useRef(0);
    /** @param {string | null} after without it, the list starts again */
    const read = async after => {
        const own = ++last.current;
        try {
            const page = await load(after === null ? {} : { cursor: after });
            if (own !== last.current) return;
            changes.value = [...(after === null ? [] : (changes.value ?? [])), ...page.changes];
            cursor.value = page.pagination.nextCursor;
            failure.value = null;
        } catch (error) {
            if (own !== last.current) return;
            isMissing.value = error instanceof ApiError && error.status === 404;
            failure.value = messageOf(error);
        }
    };
    useEffect(() => {
        read(null);
    }, [filters, recoveries.value]);
    /** @param {Change} change @param {"restore" | "undelete"} remedy */
    const apply = async (change, remedy) => {
        try {
            await (remedy === "restore" ? restore(change) : undelete(change));
            toast(t(remedy === "restore" ? "history.restored" : "history.undeleted"));
        } catch (error) {
            const isGone = remedy === "undelete" && error instanceof ApiError && error.status === 404;
            if (isGone) toast(t("history.notDeleted"), { kind: "failed" });
            else report(error);
        }
        await read(null);
    };
    const shown = changes.value;
    return html`
        ${isMissing.value && html`<${Missing} isGone message=${null} onRetry=${() => read(null)} />`}
        ${failure.value !== null && !isMissing.value && html`<${Failed} message=${failure.value} onRetry=${() => read(null)} />`}
        ${shown === null && failure.value === null && html`<${Skeleton} shape="cards" count=${5} />`}
        ${shown?.length === 0 && html`<p>${t("history.none")}</p>`}
        <ol class="cards" reversed>
            ${shown?.map(
                (change, position) => html`
                    <${ChangeRow}
                        key=${change._id}
                        change=${change}
                        remedy=${remedyOf(change, shown.slice(0, position))}
                        onApply=${apply}
                    />
                `,
            )}
        </ol>
        ${cursor.value !== null &&
        html`<button type="button"  onClick=${() => read(cursor.value)}>${t("history.more")}</button>`}
    `;
}
