/** The bar that saves: what is not saved yet, and beside the button what came of it. */
import { dateAndTime } from "../../core/format.js";
import { html, useEffect } from "../../core/html.js";
import { isolated, t, textOr } from "../../core/texts.js";
import { changesOf, fieldsOf, typedFields } from "./model.js";

/** @typedef {import("./editing.js").Editing} Editing */

export const FORM = "link-form";

/** What a field or a part of one is called. @param {string} path */
export function nameOfField(path) {
    const [name] = path.replace(/^restrictions\./, "").split(".");
    return textOr(`section.${name}`, textOr(`field.${name}`, name));
}

/** @param {{editing: Editing, onOverwrite: () => void}} properties */
export function SaveBar({ editing, onOverwrite }) {
    const isNew = editing.id === null;
    const isSaving = editing.isSaving.value;
    const names = Object.keys(typedFields(editing.fields.value, editing.before)).map(nameOfField);
    useEffect(() => {
        /** @param {KeyboardEvent} event */
        const onKey = event => {
            if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
            event.preventDefault();
            const form = document.getElementById(FORM);
            if (form instanceof HTMLFormElement && (isNew || editing.isChanged)) form.requestSubmit();
        };
        addEventListener("keydown", onKey);
        return () => removeEventListener("keydown", onKey);
    }, [editing]);
    if (!isNew && !editing.isChanged && !isSaving && editing.conflict.value === null) return null;
    return html`
        <div class="savebar">
            <${Conflict} editing=${editing} onOverwrite=${onOverwrite} />
            <${Errors} editing=${editing} />
            <div class="saving">
                ${names.length > 0 && html`<p class="unsaved"><b>${t("editor.unsaved")}</b> <span class="cut">${[...new Set(names)].join(", ")}</span></p>`}
                ${editing.isChanged && html`<button type="button" class="quiet" onClick=${() => editing.reset()}>${t("editor.reset")}</button>`}
                <button type="submit" form=${FORM} class="primary" aria-busy=${isSaving} disabled=${isSaving}>
                    ${t(isNew ? "editor.create" : "editor.save")}
                </button>
            </div>
        </div>
    `;
}

/**
 * Somebody else has saved the link since it was read.
 * @param {{editing: Editing, onOverwrite: () => void}} properties
 */
function Conflict({ editing, onOverwrite }) {
    const theirs = editing.conflict.value;
    if (theirs === null) return null;
    const names = Object.keys(changesOf(fieldsOf(theirs.link), editing.before)).map(nameOfField).join(", ");
    return html`
        <article class="banner" data-state="conflict" role="alert">
            <p>${t("conflict.text", { who: isolated(editing.rival.value || t("conflict.somebody")), time: dateAndTime(theirs.link.updatedAt), fields: names || "–" })}</p>
            <button type="button" onClick=${() => editing.merge()}>${t("conflict.merge")}</button>
            <button type="button" onClick=${onOverwrite}>${t("conflict.overwrite")}</button>
        </article>
    `;
}

/** The fields that show their messages themselves. */
const AT_FIELDS = /^(rules\.\d+\.(url|conditions)|split\.\d+\.url|restrictions\.(allowed|blocked)Countries)/;

/**
 * The messages that no field shows.
 * @param {{editing: Editing}} properties
 */
function Errors({ editing }) {
    const { preview, ...fields } = editing.fields.value;
    const own = [...Object.keys(fields), ...Object.keys(preview).map(name => `preview.${name}`), "restrictions.maxClicks", "restrictions.maxClicksPerVisitor"];
    const entries = Object.entries(editing.errors.value);
    const rest = entries.filter(([path]) => !own.includes(path) && !AT_FIELDS.test(path));
    const elsewhere = entries.length - rest.length;
    if (entries.length === 0) return null;
    return html`
        <div class="failure problems">
            ${rest.map(([path, message]) => html`<p key=${path} role="alert">${path ? `${nameOfField(path)}: ` : ""}${message}</p>`)}
            ${elsewhere > 0 && html`<p>${t("editor.refused", { count: elsewhere })}</p>`}
        </div>
    `;
}
