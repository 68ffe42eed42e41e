/** The saved views of the workspace as tabs above a list or a report: each opens what it keeps. */
import { may } from "../core/account.js";
import { report } from "../core/failures.js";
import { html, signal } from "../core/html.js";
import { navigate } from "../core/router.js";
import { isolated, t } from "../core/texts.js";
import { toast } from "../core/toasts.js";
import { createView, deleteView, listViews } from "../core/view_endpoints.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { LazyPage } from "./lazy.js";
import { useLoaded } from "./loaded.js";
import { Menu } from "./menu.js";

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

const load = () => import("./view_name.js").then(({ ViewName }) => ({ Page: ViewName }));

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
 * Asks for the name of a view.
 * @param {{kind: Views, views: SavedView[], onDone: () => Promise<void>}} properties
 */
const NameDialog = properties => html`
    <${Dialog} isOpen=${isOpen} title=${t(renamed.value === null ? properties.kind.save : "views.rename")}>
        <${LazyPage} load=${load} view=${renamed.value} ...${properties} onClose=${() => (isOpen.value = false)} />
    <//>
`;
