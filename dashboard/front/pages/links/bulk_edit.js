/** The form that changes the selected links: a text in their destinations, their expiry, their campaign. */
import { inOwnLanguage } from "../../core/api.js";
import { updateLinks } from "../../core/endpoints.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { destinationOf } from "../../core/status.js";
import { refusalText, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { typedUtm } from "../../core/utm.js";
import { MomentInput } from "../../parts/moment_input.js";
import { Sending } from "../../parts/sending.js";
import { UtmInputs } from "../../parts/utm_inputs.js";
import { refusalsOf } from "../many/lines.js";
import { TemplateChoice, useTemplates } from "../utm/choice.js";
import { reload, selected } from "./state.js";

/** @typedef {import("./state.js").ListedUrl} ListedUrl */
/** @typedef {{ids: string[], data: Record<string, any>, urls?: undefined} | {urls: ({_id: string} & Record<string, any>)[], ids?: undefined}} Changes */

/**
 * The call for what the form says. Null: it says nothing, or no destination has the text.
 * @param {ListedUrl[]} links
 * @param {FormData} form
 * @param {Record<string, string>} utm
 * @param {string} expiresAt ISO 8601; empty: unchanged
 * @returns {Changes | null}
 */
export function changesOf(links, form, utm, expiresAt) {
    /** @param {string} name */
    const text = name => String(form.get(name) ?? "").trim();
    /** @type {Record<string, any>} */
    const shared = {};
    if (form.has("removesExpiry")) shared.expiresAt = null;
    else if (expiresAt !== "") shared.expiresAt = expiresAt;
    const parameters = typedUtm(utm);
    if (parameters) shared.utm = parameters;
    if (text("utmTemplateId") !== "") shared.utmTemplateId = text("utmTemplateId");
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

/**
 * @param {ListedUrl[]} links
 * @param {string} id
 */
const nameOf = (links, id) => withoutScheme(links.find(({ _id }) => _id === id)?.shortUrl ?? "");

/** @param {{onDone: () => void}} properties */
export function BulkEdit({ onDone }) {
    const utm = useSignal(/** @type {Record<string, string>} */ ({}));
    const expiresAt = useSignal("");
    const templates = useTemplates();
    const template = useSignal(/** @type {import("../utm/choice.js").UtmTemplate | undefined} */ (undefined));
    const refusals = useSignal(/** @type {string[]} */ ([]));
    /** What the API refused in the fields of all links. */
    const refusedTogether = useSignal(/** @type {Record<string, string>} */ ({}));
    const sending = useMemo(() => new Sending(), []);
    /** @param {FormData} form */
    const submit = async form => {
        const links = [...selected.value.values()];
        refusals.value = [];
        refusedTogether.value = {};
        const changes = changesOf(links, form, utm.value, expiresAt.value);
        if (changes === null) {
            sending.errors.value = { "": t(form.get("find") ? "bulkEdit.notFound" : "bulkEdit.nothing") };
            return;
        }
        const isDone = await sending.run(async () => {
            const { results, succeeded } = await updateLinks(changes);
            const ids = changes.ids ?? changes.urls.map(({ _id }) => _id);
            const told = results.map(({ errors, ...result }) => ({ ...result, errors: inOwnLanguage(errors), message: refusalText(result) }));
            const { lines, shared } = refusalsOf(told);
            refusals.value = lines.map(({ index, messages }) => `${nameOf(links, ids[index])}: ${messages.join(" ")}`);
            refusedTogether.value = Object.fromEntries(shared.map(({ field, message }) => [field, message]));
            if (succeeded > 0) toast(t("selection.changed", { count: succeeded }));
            await reload();
        });
        if (isDone && refusals.value.length === 0 && Object.keys(refusedTogether.value).length === 0) onDone();
    };
    /** @param {import("../utm/choice.js").UtmTemplate | undefined} chosen */
    const choose = chosen => {
        template.value = chosen;
        utm.value = { ...utm.value, ...chosen?.values };
    };
    return html`
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
                <${MomentInput}
                    name="expiresAt"
                    label=${html`<span class="visually-hidden">${t("field.expiresAt")}</span>`}
                    zoneLabel=${t("times.zoneOfExpiry")}
                    value=${expiresAt.value}
                    onValue=${(/** @type {string} */ value) => (expiresAt.value = value)}
                />
                <label><input type="checkbox" name="removesExpiry" />${t("bulkEdit.noExpiry")}</label>
            </fieldset>
            <fieldset>
                <legend>${t("section.utm")}</legend>
                <p><small>${t("bulkEdit.utmText")}</small></p>
                <${TemplateChoice} templates=${templates} chosen=${template.value?._id ?? ""} onChange=${choose} />
                <${UtmInputs} utm=${utm.value} template=${template.value} errors=${refusedTogether.value} onChange=${(/** @type {Record<string, string>} */ next) => (utm.value = next)} />
            </fieldset>
            ${[...Object.values(sending.errors.value), refusedTogether.value.utmTemplateId].filter(Boolean).map(message => html`<p role="alert" class="failure">${message}</p>`)}
            ${refusals.value.length > 0 &&
            html`<div role="alert" class="failure"><p>${t("bulkEdit.refused", { count: refusals.value.length })}</p><ul>${refusals.value.map(text => html`<li key=${text}>${text}</li>`)}</ul></div>`}
            <div class="actions">
                <button type="submit" aria-busy=${sending.isBusy.value} disabled=${sending.isBusy.value}>${t("bulkEdit.now")}</button>
                <button type="button" onClick=${onDone}>${t("confirmation.cancel")}</button>
            </div>
        </form>
    `;
}
