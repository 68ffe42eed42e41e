/** The saved views of the workspace as tabs above a list or a report: each opens what it keeps. */
import { may } from "../core/account.js";
import { report } from "../core/failures.js";
import { html, signal, useMemo } from "../core/html.js";
import { navigate } from "../core/router.js";
import { isolated, t } from "../core/texts.js";
import { toast } from "../core/toasts.js";
import { changeView, createView, deleteView, listViews } from "../core/view_endpoints.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { useLoaded } from "./loaded.js";
import { Menu } from "./menu.js";
import { Sending } from "./sending.js";

/** @typedef {import("../core/view_endpoints.js").SavedView} SavedView */
/**
 * What kind of views a page has.
 * @typedef {object} Views
 * @property {(view: SavedView) => boolean} has
 * @property {string} plain the address without a view
 * @property {import("../core/texts.js").Key} all names it
 * @property {import("../core/texts.js").Key} save names the button that saves another one
 * @property {import("../core/texts.js").Key} label names the tabs
 * @property {(view: SavedView) => string} addressOf
 * @property {() => string} current the address of the page, as `addressOf` writes it
 * @property {() => import("../core/view_endpoints.js").Kept} kept what a new view keeps
 */

/** The view that the dialog renames. Null: it saves the current filters. */
const renamed = signal(/** @type {SavedView | null} */ (null));
const isOpen = signal(false);

/** @param {SavedView | null} view */
function openDialog(view) {
    renamed.value = view;
    isOpen.value = true;
}

/** @param {{of: Views}} properties */
export function SavedViews({ of: kind }) {
    const loaded = useLoaded(listViews);
    const views = loaded.value?.filter(kind.has) ?? [];
    const current = kind.current();
    const chosen = views.find(view => kind.addressOf(view) === current);
    const isPlain = current === kind.plain;
    /** @param {SavedView} view */
    const remove = async view => {
        try {
            await deleteView(view._id);
            toast(t("views.deleted", { name: isolated(view.name) }), {
                actions: [{ label: t("selection.undo"), run: () => createView(view).catch(report).finally(loaded.refresh) }],
            });
            if (view === chosen) navigate(kind.plain, { replace: true });
        } catch (error) {
            report(error);
        }
        await loaded.refresh();
    };
    const isSavable = may("editor") && !isPlain && chosen === undefined && loaded.value !== null;
    return html`
        <div class="views">
            <nav aria-label=${t(kind.label)}>
                <a href=${kind.plain} aria-current=${isPlain ? "page" : undefined}>${t(kind.all)}</a>
                ${views.map(
                    view => html`
                        <a key=${view._id} data-view=${view._id} href=${kind.addressOf(view)} aria-current=${view === chosen ? "page" : undefined} dir="auto">
                            ${view.name}
                        </a>
                    `,
                )}
            </nav>
            ${chosen !== undefined && may("editor") && html`<${More} view=${chosen} onDelete=${() => remove(chosen)} />`}
            ${isSavable &&
            html`<button type="button" class="quiet small-button" onClick=${() => openDialog(null)}>
                <${Icon} name="bookmark" />${t(kind.save)}
            </button>`}
        </div>
        <${NameDialog} kind=${kind} views=${views} onDone=${loaded.refresh} />
    `;
}

/** @param {{view: SavedView, onDelete: () => void}} properties */
const More = ({ view, onDelete }) => html`
    <${Menu}
        id="more-view"
        label=${t("views.more", { name: isolated(view.name) })}
        items=${() => html`
            <button onClick=${() => openDialog(view)}><${Icon} name="pencil" />${t("views.rename")}</button>
            <button class="danger" onClick=${onDelete}><${Icon} name="trash-2" />${t("views.delete")}</button>
        `}
    />
`;

/**
 * Asks for the name of a view. The name of another one replaces what that one keeps.
 * @param {{kind: Views, views: SavedView[], onDone: () => Promise<void>}} properties
 */
function NameDialog({ kind, views, onDone }) {
    const sending = useMemo(() => new Sending(), []);
    const view = renamed.value;
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
        isOpen.value = false;
        toast(t("views.saved", { name: isolated(name) }));
        await onDone();
    };
    return html`
        <${Dialog} isOpen=${isOpen} title=${t(view === null ? kind.save : "views.rename")}>
            <form onSubmit=${submit}>
                <label>
                    ${t("views.name")}
                    <input
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
                    <button type="button" onClick=${() => (isOpen.value = false)}>${t("confirmation.cancel")}</button>
                </div>
            </form>
        <//>
    `;
}
