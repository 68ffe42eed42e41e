/** Actions on the selected links. They take the place of the tools above the list. */
import { lacks } from "../../core/account.js";
import { download } from "../../core/api.js";
import { updateLinks } from "../../core/endpoints.js";
import { report } from "../../core/failures.js";
import { html, useSignal } from "../../core/html.js";
import { save } from "../../core/saving.js";
import { loadTags, tagLook, tagNames } from "../../core/tags.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { archivedToast } from "../../parts/archived.js";
import { Icon } from "../../parts/icon.js";
import { Suggesting } from "../../parts/suggesting.js";
import { openBulkEdit } from "./bulk_dialog.js";
import { deleteLater } from "./deletion.js";
import { Moving } from "./moving.js";
import { openSheet } from "./sheet_dialog.js";
import { clearSelection, reload, rows, select, selectAll, selected, shown } from "./state.js";

/** @typedef {Parameters<typeof updateLinks>[0]} Changes */

/**
 * Those of the links that are not archived yet, or are no more.
 * @param {Iterable<import("./state.js").ListedUrl>} links
 * @param {boolean} isArchived
 */
export async function archiveLinks(links, isArchived) {
    const changed = [...links].filter(link => link.isArchived !== isArchived);
    try {
        const { succeeded, failed } = await updateLinks({ ids: changed.map(({ _id }) => _id), data: { isArchived } });
        const undo = () => archiveLinks(changed.map(link => ({ ...link, isArchived })), !isArchived);
        if (failed > 0) toast(t("selection.partly", { succeeded, failed }));
        else archivedToast(succeeded, isArchived, undo);
        select(changed, false);
        await reload();
    } catch (error) {
        report(error);
    }
}

/** @param {Changes} changes */
async function apply(changes) {
    try {
        const { succeeded, failed } = await updateLinks(changes);
        toast(failed > 0 ? t("selection.partly", { succeeded, failed }) : t("selection.changed", { count: succeeded }));
        await reload();
    } catch (error) {
        report(error);
    }
}

/**
 * @param {string[]} ids
 * @param {boolean} isActive
 */
export const switchLinks = (ids, isActive) => apply({ ids, data: { isActive } });

/** @param {boolean} isActive */
const switchSelected = isActive => switchLinks([...selected.value.keys()], isActive);

/** @param {"addTags" | "removeTags"} change @param {string} tag */
async function tagSelected(change, tag) {
    await apply({ ids: [...selected.value.keys()], data: { [change]: [tag] } });
    await loadTags();
}

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
    const count = selected.value.size;
    const total = shown.value?.pagination.total ?? 0;
    if (count === 0) return null;
    return html`
        <div class="selection" role="toolbar" aria-label=${t("selection.label")}>
            <strong role="status">${t("selection.count", { count })}</strong>
            ${total > rows.value.length &&
            count < total &&
            html`<button class="quiet small-button" onClick=${selectAll}>${t("selection.all", { count: total })}</button>`}
            ${!lacks("editor") &&
            html`
                <${Tagging} />
                <button class="small-button" onClick=${() => switchSelected(true)}>${t("selection.on")}</button>
                <button class="small-button" onClick=${() => switchSelected(false)}>${t("selection.off")}</button>
                <${Archiving} />
                <button class="small-button" onClick=${openBulkEdit}>${t("bulkEdit.open")}</button>
                <${Moving} />
                <button class="small-button danger" onClick=${deleteSelected}><${Icon} name="trash-2" />${t("selection.delete")}</button>
            `}
            <button class="small-button" onClick=${openSheet}>${t("sheet.open")}</button>
            <button class="small-button" onClick=${exportSelected}>${t("selection.export")}</button>
            <button class="quiet small-button" onClick=${clearSelection}>${t("selection.clear")}</button>
        </div>
    `;
}

/** Archives the selected links, or brings archived ones back. */
function Archiving() {
    const links = [...selected.value.values()];
    return [true, false].map(
        isArchived =>
            links.some(link => link.isArchived !== isArchived) &&
            html`<button key=${isArchived} class="small-button" onClick=${() => archiveLinks(links, isArchived)}>
                ${t(isArchived ? "archived.archive" : "archived.unarchive")}
            </button>`,
    );
}

/** Adds a tag to the selected links, or removes one that they have. */
function Tagging() {
    const tag = useSignal("");
    const name = tag.value.trim();
    const owned = [...new Set([...selected.value.values()].flatMap(({ tags }) => tags))];
    const isRemovable = owned.some(other => other.toLowerCase() === name.toLowerCase());
    /** @param {"addTags" | "removeTags"} change */
    const run = change => {
        tag.value = "";
        if (name !== "") tagSelected(change, name);
    };
    return html`
        <form
            onSubmit=${(/** @type {SubmitEvent} */ event) => {
                event.preventDefault();
                run("addTags");
            }}
        >
            <span class="suggesting">
                <${Suggesting}
                    id="tag-of-selected"
                    maxlength="50"
                    aria-label=${t("selection.tag")}
                    placeholder=${t("selection.tag")}
                    options=${[...new Set([...owned, ...tagNames.value])]}
                    look=${tagLook}
                    value=${tag.value}
                    onType=${(/** @type {string} */ text) => (tag.value = text)}
                    onChoose=${(/** @type {string} */ chosen) => (tag.value = chosen)}
                />
            </span>
            <button type="submit" class="small-button">${t("selection.addTag")}</button>
            ${isRemovable &&
            html`<button type="button" class="small-button" onClick=${() => run("removeTags")}>
                ${t("selection.removeTag")}
            </button>`}
        </form>
    `;
}
