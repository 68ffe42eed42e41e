import { copy } from "../../core/clipboard.js";
import { day, number } from "../../core/format.js";
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { change, filters, rows, select, selected } from "./state.js";

/** @typedef {import("./state.js").ListedUrl} ListedUrl */

/** @param {{count: number}} properties the number of rows to draw, from the first */
export function Table({ count }) {
    const links = rows.value;
    if (links.length === 0) return null;
    const isEverySelected = links.every(link => selected.value.has(link._id));
    return html`
        <div class="overflow-auto">
            <table class="links">
                <thead>
                    <tr>
                        <th scope="col">
                            <input
                                type="checkbox"
                                aria-label=${t("links.selectAll")}
                                checked=${isEverySelected}
                                onChange=${() => select(links, !isEverySelected)}
                            />
                        </th>
                        <th scope="col">${t("column.link")}</th>
                        <${Sortable} name="title" label=${t("column.title")} />
                        <th scope="col">${t("column.status")}</th>
                        <${Sortable} name="clickCount" label=${t("column.clicks")} />
                        <${Sortable} name="createdAt" label=${t("column.created")} />
                    </tr>
                </thead>
                <tbody>
                    ${links.slice(0, count).map(link => html`<${Row} key=${link._id} link=${link} />`)}
                </tbody>
            </table>
        </div>
    `;
}

/** @param {{name: string, label: string}} properties */
function Sortable({ name, label }) {
    const { sortBy, sortOrder } = filters.value;
    const isSorted = sortBy === name;
    const order = isSorted && sortOrder === "desc" ? "asc" : "desc";
    const sorted = sortOrder === "asc" ? "ascending" : "descending";
    return html`
        <th scope="col" aria-sort=${isSorted ? sorted : "none"}>
            <button class="sort" onClick=${() => change({ sortBy: name, sortOrder: order })}>
                ${label}${isSorted && html`<span aria-hidden="true">${sortOrder === "asc" ? " ↑" : " ↓"}</span>`}
            </button>
        </th>
    `;
}

/** @param {{link: ListedUrl}} properties */
function Row({ link }) {
    const isSelected = selected.value.has(link._id);
    const name = link.shortUrl.replace(/^https?:\/\//, "");
    return html`
        <tr data-link=${link._id} tabindex="-1" data-selected=${isSelected}>
            <td>
                <input
                    type="checkbox"
                    aria-label=${t("links.select", { name })}
                    checked=${isSelected}
                    onChange=${() => select([link], !isSelected)}
                />
            </td>
            <td class="short">
                <a href=${link.shortUrl} target="_blank" rel="noopener noreferrer">${name}</a>
                <button
                    class="copy outline secondary"
                    aria-label=${t("links.copy", { name })}
                    onClick=${() => copy(link.shortUrl)}
                >
                    ${t("links.copyShort")}
                </button>
            </td>
            <td class="destination">
                <a href=${`/dashboard/links/${link._id}`} dir="auto">${link.title || t("links.untitled")}</a>
                <small dir="ltr">${link.originalUrl}</small>
                ${link.tags.length > 0 &&
                html`<span class="tags">${link.tags.map(tag => html`<${Tag} key=${tag} name=${tag} />`)}</span>`}
            </td>
            <td><${State} link=${link} /></td>
            <td class="number">
                <a href=${`/dashboard/links/${link._id}/report`} aria-label=${t("links.report", { name, count: link.clickCount })}>
                    ${number(link.clickCount)}
                </a>
            </td>
            <td class="number">${day(link.createdAt)}</td>
        </tr>
    `;
}

/** @param {{name: string}} properties */
const Tag = ({ name }) => html`
    <button class="tag" dir="auto" aria-label=${t("links.filterTag", { tag: name })} onClick=${() => change({ tags: name })}>
        ${name}
    </button>
`;

/** @param {{link: ListedUrl}} properties */
function State({ link }) {
    const isExpired = link.expiresAt !== null && new Date(link.expiresAt) <= new Date();
    /** @type {"off" | "expired" | "active"} */
    const state = !link.isActive ? "off" : isExpired ? "expired" : "active";
    return html`
        <span class="state" data-state=${state}>${t(`state.${state}`)}</span>
        ${link.hasPassword && html` <span class="state">${t("state.password")}</span>`}
    `;
}
