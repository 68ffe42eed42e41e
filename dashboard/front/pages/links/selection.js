/** Actions on the selected links. */
import { lacks } from "../../core/account.js";
import { html, useSignal } from "../../core/html.js";
import { updateLinks } from "../../core/endpoints.js";
import { download } from "../../core/api.js";
import { report } from "../../core/failures.js";
import { save } from "../../core/saving.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { deleteLater } from "./deletion.js";
import { Moving } from "./moving.js";
import { clearSelection, load, select, selected, shown } from "./state.js";

/** @typedef {Parameters<typeof updateLinks>[0]} Changes */

/** @param {Changes} changes */
async function apply(changes) {
    try {
        const { succeeded, failed } = await updateLinks(changes);
        toast(failed > 0 ? t("selection.partly", { succeeded, failed }) : t("selection.changed", { count: succeeded }));
        await load();
        // Loads the new tags and states.
        select((shown.value?.urls ?? []).filter(link => selected.value.has(link._id)), true);
    } catch (error) {
        report(error);
    }
}

/** @param {boolean} isActive */
const switchSelected = isActive => apply({ ids: [...selected.value.keys()], data: { isActive } });

/** @param {string} tag */
const tagSelected = tag =>
    apply({ urls: [...selected.value.values()].map(({ _id, tags }) => ({ _id, tags: [...new Set([...tags, tag])] })) });

async function exportSelected() {
    try {
        save(await download("POST", "/urls/bulk-export", { body: { ids: [...selected.value.keys()], format: "csv" } }));
    } catch (error) {
        report(error);
    }
}

function deleteSelected() {
    deleteLater([...selected.value.keys()]);
    clearSelection();
}

export function Selection() {
    const tag = useSignal("");
    const count = selected.value.size;
    if (count === 0) return null;
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        const name = tag.value.trim();
        if (name === "") return;
        tag.value = "";
        tagSelected(name);
    };
    return html`
        <div class="selection" role="toolbar" aria-label=${t("selection.label")}>
            <strong role="status">${t("selection.count", { count })}</strong>
            ${!lacks("editor") &&
            html`
                <form onSubmit=${submit}>
                    <input
                        type="text"
                        maxlength="50"
                        aria-label=${t("selection.tag")}
                        placeholder=${t("selection.tag")}
                        value=${tag.value}
                        onInput=${(/** @type {any} */ event) => (tag.value = event.target.value)}
                    />
                    <button type="submit" class="secondary">${t("selection.addTag")}</button>
                </form>
                <button class="secondary" onClick=${() => switchSelected(true)}>${t("selection.on")}</button>
                <button class="secondary" onClick=${() => switchSelected(false)}>${t("selection.off")}</button>
                <${Moving} />
                <button class="danger" onClick=${deleteSelected}>${t("selection.delete")}</button>
            `}
            <button class="secondary" onClick=${exportSelected}>${t("selection.export")}</button>
            <button class="outline secondary" onClick=${clearSelection}>${t("selection.clear")}</button>
        </div>
    `;
}
