/** The tags of the workspace: rename, merge, colour and delete them in all links at once. */
import { lacks, may } from "../../core/account.js";
import { report } from "../../core/failures.js";
import { number } from "../../core/format.js";
import { html, signal, useSignal } from "../../core/html.js";
import { textOfList } from "../../core/lists.js";
import { navigate, query } from "../../core/router.js";
import { loadStyle } from "../../core/styles.js";
import { loadTags, lookOf } from "../../core/tags.js";
import { isolated, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Icon } from "../../parts/icon.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { Menu } from "../../parts/menu.js";
import { PageTurner } from "../../parts/page_turner.js";
import { AccountHeading } from "../account/sections.js";
import { deleteTag, listTags, undoTagChange } from "./endpoints.js";
import { TagDialog } from "./tag_dialog.js";

/** @typedef {import("./endpoints.js").Tag} Tag */
/** @typedef {import("./endpoints.js").TagChange} TagChange */

await loadStyle("pages/tags/tags.css");

const PAGE_SIZE = 50;

/** The tag that the dialog changes. */
const changed = signal(/** @type {Tag | null} */ (null));
const isOpen = signal(false);

export function Page() {
    const page = Math.max(1, Number.parseInt(query.value.get("page") ?? "", 10) || 1);
    const search = useSignal(query.value.get("search") ?? "");
    const sought = query.value.get("search") ?? "";
    const loaded = useLoaded(() => listTags({ page, limit: PAGE_SIZE, search: sought }), [page, sought]);
    // Of many links, they take longer than the list, or cannot be added up.
    const clicked = useLoaded(() => clicksOf({ page, limit: PAGE_SIZE, search: sought }), [page, sought]);
    const refresh = async () => {
        await Promise.all([loaded.refresh(), clicked.refresh(), loadTags()]);
    };
    /** @param {number} next */
    const turn = next => navigate(addressOf(sought, next));
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        navigate(addressOf(search.value.trim(), 1));
    };
    /** @param {TagChange} change @param {string} text */
    const tell = (change, text) => {
        const undo = () => undoTagChange(change._id).catch(report).finally(refresh);
        const isDone = change.status === "done";
        toast(isDone ? text : t("tags.running"), isDone ? { actions: [{ label: t("selection.undo"), run: undo }] } : undefined);
    };
    /** @param {Tag} tag */
    const remove = async tag => {
        try {
            tell(await deleteTag(tag.name), t("tags.deleted", { name: isolated(tag.name) }));
        } catch (error) {
            report(error);
        }
        await refresh();
    };
    const { value } = loaded;
    return html`
        <${AccountHeading} title=${t("tags.title")} />
        <div class="body">
            <p>${t("tags.text")} ${lacks("editor") && t("tags.viewer")}</p>
            <form class="narrow" role="search" onSubmit=${submit}>
                <label>
                    ${t("tags.search")}
                    <input
                        name="search"
                        type="search"
                        maxlength="50"
                        dir="auto"
                        value=${search.value}
                        onInput=${(/** @type {any} */ event) => (search.value = event.target.value)}
                    />
                </label>
            </form>
            <${Pending} of=${loaded} />
            ${value?.tags.length === 0 && html`<p>${t(sought ? "tags.noneFound" : "tags.none")}</p>`}
            <ul class="cards tags-of-workspace">
                ${value?.tags.map(tag => html`<${Row} key=${tag.name} tag=${tag} clicks=${clicked.value?.get(tag.name)} onDelete=${() => remove(tag)} />`)}
            </ul>
            ${value !== null && html`<${PageTurner} pagination=${value.pagination} page=${page} onTurn=${turn} counted="tags.total" />`}
        </div>
        <${TagDialog} isOpen=${isOpen} tag=${changed.value} onDone=${refresh} onChange=${tell} />
    `;
}

/** @param {string} search @param {number} page */
function addressOf(search, page) {
    const parameters = new URLSearchParams({ ...(search && { search }), ...(page > 1 && { page: String(page) }) }).toString();
    return `/dashboard/tags${parameters && `?${parameters}`}`;
}

/**
 * The clicks of the last 30 days (UTC) by tag; none if they cannot be added up.
 * @param {{page: number, limit: number, search: string}} of
 */
async function clicksOf(of) {
    const { tags } = await listTags({ ...of, period: "30d" }).catch(() => ({ tags: [] }));
    return new Map(tags.map(({ name, clicks = 0 }) => [name, clicks]));
}

/** @param {{tag: Tag, clicks?: number, onDelete: () => void}} properties */
function Row({ tag, clicks, onDelete }) {
    const open = () => {
        changed.value = tag;
        isOpen.value = true;
    };
    return html`
        <li data-tag=${tag.name}>
            <div>
                <a href=${`/dashboard/?tags=${encodeURIComponent(textOfList([tag.name]))}`} aria-label=${t("links.filterTag", { tag: tag.name })}>
                    <span ...${lookOf(tag.name, tag.color)} dir="auto">
                        ${tag.name}
                    </span>
                </a>
                <small>
                    ${t("tags.links", { count: tag.linkCount, links: number(tag.linkCount) })} ·${" "}
                    <a href=${`/dashboard/analytics?tags=${encodeURIComponent(textOfList([tag.name]))}`} aria-label=${`${t("analytics.title")}: ${tag.name}`}>${t("analytics.title")}</a>
                    ${clicks !== undefined && ` · ${t("tags.clicks", { count: clicks, clicks: number(clicks) })}`}
                </small>
            </div>
            ${may("editor") &&
            html`<${Menu}
                id=${`tag-${tag.name}`}
                label=${t("tags.more", { name: tag.name })}
                items=${() => html`
                    <button onClick=${open}><${Icon} name="pencil" />${t("tags.change")}</button>
                    <button class="danger" onClick=${onDelete}><${Icon} name="trash-2" />${t("tags.delete")}</button>
                `}
            />`}
        </li>
    `;
}
