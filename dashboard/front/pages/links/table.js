/** The rows of the list: the title first, the short link and where it leads, tags, status and clicks. */
import { account, may } from "../../core/account.js";
import { copy } from "../../core/clipboard.js";
import { number, shortDay } from "../../core/format.js";
import { html } from "../../core/html.js";
import { hostOf, hueOf, withoutScheme } from "../../core/hues.js";
import { textOfList } from "../../core/lists.js";
import { initialsOf, nameOf } from "../../core/people.js";
import { density } from "../../core/preferences.js";
import { destinationOf } from "../../core/status.js";
import { tagLook } from "../../core/tags.js";
import { t } from "../../core/texts.js";
import { workspaceId } from "../../core/workspace.js";
import { Archived } from "../../parts/archived.js";
import { Icon } from "../../parts/icon.js";
import { Menu } from "../../parts/menu.js";
import { Sign } from "../../parts/sign.js";
import { Health } from "../../parts/health.js";
import { LinkStatus } from "../../parts/link_status.js";
import { deleteLater } from "./deletion.js";
import { openQrCode } from "./qr_dialog.js";
import { archiveLinks, switchLinks } from "./selection.js";
import { Sparkline } from "./sparklines.js";
import { change, rows, select, selected } from "./state.js";

/** @typedef {import("./state.js").ListedUrl} ListedUrl */

/** @param {{count: number}} properties the number of rows to draw, from the first */
export function Table({ count }) {
    const links = rows.value;
    if (links.length === 0) return null;
    const chosen = links.filter(link => selected.value.has(link._id)).length;
    const isEverySelected = chosen === links.length;
    const isShared = haveOthers(links);
    return html`
        <table class="links" role="table" data-density=${density.value || undefined} data-shared=${isShared || undefined}>
            <thead role="rowgroup">
                <tr role="row">
                    <th role="columnheader">
                        <input
                            type="checkbox"
                            aria-label=${t("links.selectAll")}
                            checked=${isEverySelected}
                            indeterminate=${chosen > 0 && !isEverySelected}
                            onChange=${() => select(links, !isEverySelected)}
                        />
                    </th>
                    <th role="columnheader" class="name">${t("column.link")}</th>
                    <th role="columnheader" class="of-tags">${t("field.tags")}</th>
                    <th role="columnheader" class="of-state">${t("column.status")}</th>
                    <th role="columnheader" class="of-line">${t("column.days")}</th>
                    <th role="columnheader" class="number">${t("column.clicks")}</th>
                    <th role="columnheader" class="of-day number">${t("column.created")}</th>
                    ${isShared && html`<th role="columnheader" class="of-creator"><span>${t("column.creator")}</span></th>`}
                    <th role="columnheader"><span class="visually-hidden">${t("column.actions")}</span></th>
                </tr>
            </thead>
            <tbody role="rowgroup">
                ${links.slice(0, count).map(link => html`<${Row} key=${link._id} link=${link} isShared=${isShared} />`)}
            </tbody>
        </table>
    `;
}

/**
 * Whether some of the links are of other members, so that rows name their creators.
 * @param {ListedUrl[]} links
 */
function haveOthers(links) {
    if (workspaceId === null || account.value === null) return false;
    const { _id } = account.value;
    return links.some(({ creator }) => creator !== null && creator._id !== _id);
}

/** @param {{link: ListedUrl, isShared: boolean}} properties */
function Row({ link, isShared }) {
    const isSelected = selected.value.has(link._id);
    const name = withoutScheme(link.shortUrl);
    const destination = destinationOf(link);
    const host = hostOf(destination);
    const title = link.title || withoutScheme(destination);
    return html`
        <tr role="row" data-link=${link._id} tabindex="-1" data-selected=${isSelected}>
            <td role="cell" class="of-box">
                <input
                    type="checkbox"
                    aria-label=${t("links.select", { name })}
                    checked=${isSelected}
                    onChange=${() => select([link], !isSelected)}
                />
            </td>
            <td role="cell" class="name">
                <span class="tile ${hueOf(host)}" aria-hidden="true">${title.trim().charAt(0).toUpperCase()}</span>
                <div class="destination">
                    <a class="title cut" href=${`/dashboard/links/${link._id}`} dir="auto">${title}</a>
                    <div class="where">
                        <${Sign} address=${link.shortUrl} isLink />
                        ${link.hasPassword && html`<span title=${t("state.password")}><${Icon} name="lock" /><span class="visually-hidden">${t("state.password")}</span></span>`}
                        <button class="icon-button" aria-label=${t("links.copy", { name })} title=${t("links.copyShort")} onClick=${() => copy(link.shortUrl)}>
                            <${Icon} name="copy" />
                        </button>
                        <${Archived} link=${link} />
                        <span class="leads wide-only"><${Icon} name="arrow-right" turns /><span class="cut url">${withoutScheme(destination)}</span></span>
                    </div>
                </div>
                <${Quick} link=${link} name=${name} />
            </td>
            <td role="cell" class="of-tags">
                ${link.tags.length > 0 &&
                html`<span class="tags">${link.tags.map(tag => html`<${Tag} key=${tag} name=${tag} />`)}</span>`}
            </td>
            <td role="cell" class="of-state"><${LinkStatus} link=${link} /><${Health} link=${link} /></td>
            <td role="cell" class="of-line"><${Sparkline} id=${link._id} /></td>
            <td role="cell" class="of-clicks number">
                <a href=${`/dashboard/links/${link._id}/report`} aria-label=${t("links.report", { name, count: link.clickCount })}>
                    ${number(link.clickCount)}
                </a>
            </td>
            <td role="cell" class="of-day number">${shortDay(link.createdAt)}</td>
            ${isShared && html`<td role="cell" class="of-creator">${link.creator && html`<${Creator} creator=${link.creator} />`}</td>`}
            <td role="cell" class="of-menu"><${More} link=${link} name=${name} /></td>
        </tr>
    `;
}

/** @param {{creator: import("../../core/people.js").Person}} properties */
const Creator = ({ creator }) => html`
    <span class=${`tile face ${hueOf(creator.email)}`} aria-hidden="true" title=${nameOf(creator)}>${initialsOf(creator)}</span>
    <span class="full cut" dir="auto">${nameOf(creator)}</span>
`;

/**
 * The most frequent actions, beside the row under the pointer or with the focus.
 * @param {{link: ListedUrl, name: string}} properties
 */
const Quick = ({ link, name }) => html`
    <span class="quick">
        <button class="icon-button" aria-label=${t("links.qrOf", { name })} title=${t("section.qr")} onClick=${() => openQrCode(link)}>
            <${Icon} name="qr-code" />
        </button>
        <a class="icon-button" role="button" href=${`/dashboard/links/${link._id}`} aria-label=${t("links.editOf", { name })} title=${t("editor.edit")}>
            <${Icon} name="pencil" />
        </a>
        <a class="icon-button" role="button" href=${`/dashboard/links/${link._id}/report`} aria-label=${t("links.reportOf", { name })} title=${t("report.title")}>
            <${Icon} name="chart-no-axes-column" />
        </a>
    </span>
`;

/** @param {{link: ListedUrl, name: string}} properties */
function More({ link, name }) {
    const items = () => html`
        <button onClick=${() => copy(link.shortUrl)}><${Icon} name="copy" />${t("links.copyLink")}</button>
        <button onClick=${() => openQrCode(link)}><${Icon} name="qr-code" />${t("section.qr")}</button>
        <a href=${`/dashboard/links/${link._id}/report`}><${Icon} name="chart-no-axes-column" />${t("report.title")}</a>
        <a href=${`/dashboard/links/${link._id}/history`}><${Icon} name="history" />${t("history.title")}</a>
        ${may("editor") &&
        html`
            <a href=${`/dashboard/links/${link._id}`}><${Icon} name="pencil" />${t("editor.edit")}</a>
            <a href=${`/dashboard/new?from=${link._id}`}><${Icon} name="copy-plus" />${t("editor.duplicate")}</a>
            <button onClick=${() => switchLinks([link._id], !link.isActive)}>
                <${Icon} name="pause" />${t(link.isActive ? "selection.off" : "selection.on")}
            </button>
            <button onClick=${() => archiveLinks([link], !link.isArchived)}>
                <${Icon} name="archive" />${t(link.isArchived ? "archived.unarchive" : "archived.archive")}
            </button>
            <hr />
            <button class="danger" onClick=${() => deleteLater([link._id])}><${Icon} name="trash-2" />${t("selection.delete")}</button>
        `}
    `;
    return html`<${Menu} id=${`more-${link._id}`} label=${t("links.moreOf", { name })} items=${items} />`;
}

/** @param {{name: string}} properties */
const Tag = ({ name }) => html`
    <button ...${tagLook(name)} dir="auto" aria-label=${t("links.filterTag", { tag: name })} onClick=${() => change({ tags: textOfList([name]), tagsMode: "" })}>
        ${name}
    </button>
`;
