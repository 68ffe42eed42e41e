/** One dialog that changes the selected links: a text in their destinations, their expiry, their campaign. */
import { updateLinks } from "../../core/endpoints.js";
import { html, signal } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { destinationOf } from "../../core/status.js";
import { refusalText, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { typedUtm } from "../../core/utm.js";
import { Dialog } from "../../parts/dialog.js";
import { Sending } from "../../parts/sending.js";
import { UtmInputs } from "../../parts/utm_inputs.js";
import { reload, selected } from "./state.js";

/** @typedef {import("./state.js").ListedUrl} ListedUrl */
/** @typedef {{ids: string[], data: Record<string, any>, urls?: undefined} | {urls: ({_id: string} & Record<string, any>)[], ids?: undefined}} Changes */

const isOpen = signal(false);
const utm = signal(/** @type {Record<string, string>} */ ({}));
const refusals = signal(/** @type {string[]} */ ([]));
const sending = new Sending();

export function openBulkEdit() {
    utm.value = {};
    refusals.value = [];
    sending.errors.value = {};
    isOpen.value = true;
}

/**
 * The call for what the form says. Null: it says nothing, or no destination has the text.
 * @param {ListedUrl[]} links
 * @param {FormData} form
 * @returns {Changes | null}
 */
function changesOf(links, form) {
    /** @param {string} name */
    const text = name => String(form.get(name) ?? "").trim();
    /** @type {Record<string, any>} */
    const shared = {};
    if (form.has("removesExpiry")) shared.expiresAt = null;
    else if (text("expiresAt") !== "") shared.expiresAt = new Date(text("expiresAt")).toISOString();
    const parameters = typedUtm(utm.value);
    if (parameters) shared.utm = parameters;
    const find = text("find");
    if (find === "") return Object.keys(shared).length > 0 ? { ids: links.map(({ _id }) => _id), data: shared } : null;
    const replacement = text("replacement");
    const changed = links.flatMap(link => {
        const destination = destinationOf(link);
        const moved = destination.includes(find);
        if (!moved && Object.keys(shared).length === 0) return [];
        return { _id: link._id, ...(moved && { targetUrl: destination.replaceAll(find, replacement) }), ...shared };
    });
    return changed.length > 0 ? { urls: changed } : null;
}

/** @param {FormData} form */
async function submit(form) {
    const links = [...selected.value.values()];
    refusals.value = [];
    const changes = changesOf(links, form);
    if (changes === null) {
        sending.errors.value = { "": t(form.get("find") ? "bulkEdit.notFound" : "bulkEdit.nothing") };
        return;
    }
    const isDone = await sending.run(async () => {
        const { results, succeeded } = await updateLinks(changes);
        const ids = changes.ids ?? changes.urls.map(({ _id }) => _id);
        refusals.value = results.flatMap(result =>
            result.success ? [] : `${nameOf(links, ids[result.index])}: ${refusalText(result)}`,
        );
        if (succeeded > 0) toast(t("selection.changed", { count: succeeded }));
        await reload();
    });
    if (isDone && refusals.value.length === 0) isOpen.value = false;
}

/**
 * @param {ListedUrl[]} links
 * @param {string} id
 */
const nameOf = (links, id) => withoutScheme(links.find(({ _id }) => _id === id)?.shortUrl ?? "");

/** Not part of the selection: the dialog stays while the list is loaded. */
export const BulkEditDialog = () => html`
    <${Dialog} isOpen=${isOpen} title=${t("bulkEdit.title", { count: selected.value.size })}>
        <form
            onSubmit=${(/** @type {any} */ event) => {
                event.preventDefault();
                submit(new FormData(event.target));
            }}
        >
            <fieldset>
                <legend>${t("field.originalUrl")}</legend>
                <div class="grid">
                    <label>${t("bulkEdit.find")}<input name="find" dir="ltr" autocomplete="off" autocapitalize="none" spellcheck=${false} /></label>
                    <label>${t("bulkEdit.replacement")}<input name="replacement" dir="ltr" autocomplete="off" autocapitalize="none" spellcheck=${false} /></label>
                </div>
            </fieldset>
            <fieldset>
                <legend>${t("field.expiresAt")}</legend>
                <label class="visually-hidden" for="bulk-expiry">${t("field.expiresAt")}</label>
                <input id="bulk-expiry" name="expiresAt" type="datetime-local" />
                <label><input type="checkbox" name="removesExpiry" />${t("bulkEdit.noExpiry")}</label>
            </fieldset>
            <fieldset>
                <legend>${t("section.utm")}</legend>
                <p><small>${t("bulkEdit.utmText")}</small></p>
                <${UtmInputs} utm=${utm.value} onChange=${(/** @type {Record<string, string>} */ next) => (utm.value = next)} />
            </fieldset>
            ${Object.values(sending.errors.value).map(message => html`<p role="alert" class="failure">${message}</p>`)}
            ${refusals.value.length > 0 &&
            html`<div role="alert" class="failure"><p>${t("bulkEdit.refused", { count: refusals.value.length })}</p><ul>${refusals.value.map(text => html`<li key=${text}>${text}</li>`)}</ul></div>`}
            <div class="actions">
                <button type="submit" aria-busy=${sending.isBusy.value} disabled=${sending.isBusy.value}>${t("bulkEdit.now")}</button>
                <button type="button" onClick=${() => (isOpen.value = false)}>${t("confirmation.cancel")}</button>
            </div>
        </form>
    <//>
`;
