/** The links with the most clicks of a period, each with its share. */
import { number } from "../../core/format.js";
import { html } from "../../core/html.js";
import { hostOf, hueOf, withoutScheme } from "../../core/hues.js";
import { destinationOf } from "../../core/status.js";
import { t } from "../../core/texts.js";
import { percent, shareOf } from "./names.js";

/** @typedef {import("./endpoints.js").TopUrl} TopUrl */

/** @param {{title?: string | null, originalUrl: string, targetUrl?: string | null}} link */
export const titleOf = link => link.title || withoutScheme(destinationOf(link));

/** @param {{link: {title?: string | null, originalUrl: string, targetUrl?: string | null}}} properties */
export const Tile = ({ link }) => html`
    <span class="tile ${hueOf(hostOf(destinationOf(link)))}" aria-hidden="true">${titleOf(link).trim().charAt(0).toUpperCase()}</span>
`;

/**
 * @param {object} properties
 * @param {readonly TopUrl[]} properties.links
 * @param {number} properties.total the clicks of all links
 * @param {number} [properties.others] the clicks of the links that are not listed
 * @param {string} [properties.query] what the report of a link shows of it
 */
export const TopLinks = ({ links, total, others = 0, query = "" }) => html`
    <ol class="best">
        ${links.map(
            link => html`
                <li key=${link._id}>
                    <${Tile} link=${link} />
                    <span class="label">
                        <span class="bar" style=${{ inlineSize: `${(100 * link.clicks) / links[0].clicks}%` }}></span>
                        <a class="cut" dir="auto" href=${`/dashboard/links/${link._id}/report${query}`}>${titleOf(link)}</a>
                    </span>
                    <b class="number">${number(link.clicks)}</b>
                    <span class="number share">${percent(shareOf(link.clicks, total))}</span>
                </li>
            `,
        )}
        ${others > 0 &&
        html`<li>
            <span></span>
            <span class="label">${t("report.otherLinks")}</span>
            <b class="number">${number(others)}</b>
            <span class="number share">${percent(shareOf(others, total))}</span>
        </li>`}
    </ol>
`;
