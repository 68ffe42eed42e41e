/** Brings deleted links back, one call for each, and says what came of it. */
import { ApiError } from "../../core/api.js";
import { messageOf } from "../../core/failures.js";
import { withoutScheme } from "../../core/hues.js";
import { navigate } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { undelete } from "./endpoints.js";

/** @param {import("./endpoints.js").RestorableUrl[]} links */
export async function bringBack(links) {
    let done = 0;
    for (const link of links) {
        try {
            await undelete(link._id);
            done++;
        } catch (error) {
            const message = isGone(error) ? t("history.notDeleted") : messageOf(error);
            if (message !== null) {
                toast(t("deleted.refused", { name: withoutScheme(link.shortUrl), message }), { kind: "failed" });
            }
            // What does not concern this link would fail for the others, too.
            if (!(error instanceof ApiError) || !error.isRefused || error.status === 429) break;
        }
    }
    if (done === 0) return;
    const open = { label: t("history.openLink"), run: () => navigate(`/dashboard/links/${links[0]._id}`) };
    toast(t("deleted.done", { count: done }), { actions: links.length === 1 ? [open] : [] });
}

/** @param {unknown} error */
const isGone = error => error instanceof ApiError && error.status === 404;
