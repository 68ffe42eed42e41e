/** The form that names a view. The name of another one replaces what that one keeps. */
import { html, useEffect, useMemo, useRef } from "../core/html.js";
import { isolated, t } from "../core/texts.js";
import { toast } from "../core/toasts.js";
import { changeView, createView } from "../core/view_endpoints.js";
import { Sending } from "./sending.js";

/** @typedef {import("../core/view_endpoints.js").SavedView} SavedView */

/**
 * @param {object} properties
 * @param {import("./saved_views.js").Views} properties.kind
 * @param {SavedView | null} properties.view the one to rename. Null: what the page shows becomes a view.
 * @param {SavedView[]} properties.views
 * @param {() => Promise<void>} properties.onDone
 * @param {() => void} properties.onClose
 */
export function ViewName({ kind, view, views, onDone, onClose }) {
    const sending = useMemo(() => new Sending(), []);
    const field = useRef(/** @type {HTMLInputElement | null} */ (null));
    // The dialog may be open already.
    useEffect(() => field.current?.focus(), []);
    const { name: problem, "": other } = sending.errors.value;
    /** @param {SubmitEvent} event */
    const submit = async event => {
        event.preventDefault();
        const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
        const name = String(form.get("name")).trim();
        const same = views.find(candidate => candidate.name === name);
        const isDone = await sending.run(async () => {
            if (view !== null) await changeView(view._id, { name });
            else if (same !== undefined) await changeView(same._id, kind.kept());
            else await createView({ name, ...kind.kept() }, sending.idempotencyKey);
        });
        if (!isDone) return;
        onClose();
        toast(t("views.saved", { name: isolated(name) }));
        await onDone();
    };
    return html`
        <form onSubmit=${submit}>
            <label>
                ${t("views.name")}
                <input
                    ref=${field}
                    name="name"
                    type="text"
                    required
                    autofocus
                    maxlength="60"
                    autocomplete="off"
                    list=${view === null ? "view-names" : undefined}
                    defaultValue=${view?.name ?? ""}
                    aria-invalid=${problem ? "true" : undefined}
                />
                <datalist id="view-names">${views.map(({ name, _id }) => html`<option key=${_id} value=${name} />`)}</datalist>
                <small>${t(view === null ? "views.nameText" : "views.shared")}</small>
            </label>
            ${(problem ?? other) && html`<p role="alert" class="failure">${problem ?? other}</p>`}
            <div class="actions">
                <button type="submit" class="primary" aria-busy=${sending.isBusy.value} disabled=${sending.isBusy.value}>
                    ${t("editor.save")}
                </button>
                <button type="button" onClick=${onClose}>${t("confirmation.cancel")}</button>
            </div>
        </form>
    `;
}
