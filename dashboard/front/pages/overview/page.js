/** The overview of a workspace: its clicks against the period before, its best links, and what needs attention. */
import { lacks, may } from "../../core/account.js";
import { copy } from "../../core/clipboard.js";
import { number, shortDay } from "../../core/format.js";
import { html } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { textOfList } from "../../core/lists.js";
import { navigate, query } from "../../core/router.js";
import { loadStyle } from "../../core/styles.js";
import { t } from "../../core/texts.js";
import { Head } from "../../parts/head.js";
import { Icon } from "../../parts/icon.js";
import { useLoaded } from "../../parts/loaded.js";
import { Sign } from "../../parts/sign.js";
import { Skeleton } from "../../parts/skeleton.js";
import { nameOfCountry, percent, shareOf } from "../report/names.js";
import { Tile, TopLinks, titleOf } from "../report/top_links.js";
import { FirstLink } from "../start/first_link.js";
import { Shorten } from "../start/shorten.js";
import { Attention } from "./attention.js";
import { readBestTags, readOverview } from "./endpoints.js";
import { Figures } from "./figures.js";

/** @typedef {import("./endpoints.js").Overview} Overview */

await Promise.all([loadStyle("pages/report/report.css"), loadStyle("pages/overview/overview.css")]);

const PERIODS = /** @type {const} */ (["7", "30", "90"]);

export function Page() {
    const period = PERIODS.find(days => days === query.value.get("days")) ?? "30";
    const { value, failure } = useLoaded(() => readOverview(Number(period)), [period]);
    const isBare = value !== null && value.links === 0;
    return html`
        <${Head} title=${t("overview.title")}>${!isBare && html`<${Periods} chosen=${period} />`}<//>
        ${failure !== null && html`<p role="alert" class="failure problem">${failure}</p>`}
        ${isBare ? html`<${Bare} />` : html`<${Shown} overview=${value} hasFailed=${failure !== null} />`}
    `;
}

/** @param {{chosen: string}} properties */
const Periods = ({ chosen }) => html`
    <div class="seg" role="group" aria-label=${t("report.range")}>
        ${PERIODS.map(
            days => html`
                <button
                    key=${days}
                    aria-pressed=${days === chosen ? "true" : "false"}
                    onClick=${() => navigate(`/dashboard/overview${days === "30" ? "" : `?days=${days}`}`, { replace: true })}
                >
                    ${t("overview.days", { count: Number(days) })}
                </button>
            `,
        )}
    </div>
`;

const Bare = () =>
    lacks("editor") ? html`<div class="blank"><${Icon} name="link" /><p>${t("empty.none")}</p></div>` : html`<${FirstLink} />`;

/** @param {{overview: Overview | null, hasFailed: boolean}} properties `overview`: null until it is loaded */
const Shown = ({ overview, hasFailed }) => html`
    ${may("editor") &&
    html`<div class="shorten">
        <${Shorten} draft="overview" isBrief onCreated=${(/** @type {string} */ id) => navigate(`/dashboard/links/${id}`)} />
    </div>`}
    <div class="overview">
        <div class="over-time" aria-busy=${overview === null && !hasFailed}>
            ${overview === null ? !hasFailed && html`<${Skeleton} shape="figures" count=${5} />` : html`<${Figures} overview=${overview} />`}
        </div>
        <${Attention} />
        ${overview !== null &&
        html`
            <section class="panel" aria-label=${t("overview.best")}>
                <h2>${t("overview.best")}</h2>
                <${Best} overview=${overview} />
            </section>
            <section class="panel" aria-label=${t("report.countries")}>
                <h2>${t("report.countries")}</h2>
                <${Countries} overview=${overview} />
            </section>
            <section class="panel" aria-label=${t("overview.newest")}>
                <h2>${t("overview.newest")}</h2>
                <${Newest} overview=${overview} />
            </section>
            <${Tags} overview=${overview} />
        `}
    </div>
`;

/** @param {{overview: Overview}} properties */
function Best({ overview: { clicks } }) {
    const links = clicks?.topUrls ?? [];
    if (clicks === null) return html`<p class="muted">${t("overview.tooLargeShort")}</p>`;
    if (links.length === 0) {
        return html`<p class="muted">${t(clicks.totalClicks > 0 ? "overview.tooLargeShort" : "overview.noClicks")}</p>`;
    }
    return html`
        <${TopLinks} links=${links} total=${clicks.totalClicks} />
        <p><a href="/dashboard/?sortBy=clickCount&sortOrder=desc">${t("overview.all")}</a></p>
    `;
}

/** @param {{overview: Overview}} properties */
function Countries({ overview: { clicks, days } }) {
    const countries = (clicks?.topCountries ?? []).filter(({ isRest }) => !isRest);
    if (clicks === null) return html`<p class="muted">${t("overview.tooLargeShort")}</p>`;
    if (countries.length === 0) return html`<p class="muted">${t("overview.noClicks")}</p>`;
    return html`
        <${Ranked} rows=${countries.map(({ country, clicks: count }) => ({ name: nameOfCountry(country), address: reportOf({ country }, days), clicks: count }))} total=${clicks.totalClicks} />
        <p><a href="/dashboard/analytics">${t("overview.analytics")}</a></p>
    `;
}

/** Last, because it arrives later than the others. Nothing without tags, and if there are too many links to add up. @param {{overview: Overview}} properties */
function Tags({ overview: { clicks, days } }) {
    const tags = useLoaded(() => readBestTags(days), [days]).value ?? [];
    if (clicks === null || tags.length === 0) return null;
    return html`
        <section class="panel tags" aria-label=${t("field.tags")}>
            <h2>${t("field.tags")}</h2>
            <${Ranked} rows=${tags.map(({ value, clicks: count }) => ({ name: value, address: reportOf({ tags: textOfList([value]) }, days), clicks: count }))} total=${clicks.totalClicks} />
            <p><a href="/dashboard/tags">${t("overview.tags")}</a></p>
        </section>
    `;
}

/**
 * @param {Record<string, string>} filter
 * @param {number} days
 */
const reportOf = (filter, days) => `/dashboard/analytics?${new URLSearchParams({ ...filter, ...(days !== 30 && { range: `${days}d` }) })}`;

/**
 * Each leads to its clicks.
 * @param {{rows: {name: string, address: string, clicks: number}[], total: number}} properties
 */
const Ranked = ({ rows, total }) => html`
    <ol class="best countries">
        ${rows.map(
            ({ name, address, clicks }) => html`
                <li key=${address}>
                    <span class="label">
                        <span class="bar" style=${{ inlineSize: `${(100 * clicks) / rows[0].clicks}%` }}></span>
                        <a class="cut" dir="auto" href=${address}>${name}</a>
                    </span>
                    <b class="number">${number(clicks)}</b>
                    <span class="number share">${percent(shareOf(clicks, total))}</span>
                </li>
            `,
        )}
    </ol>
`;

/** @param {{overview: Overview}} properties */
const Newest = ({ overview: { newest } }) => html`
    <ol class="newest">
        ${newest.map(
            link => html`
                <li key=${link._id}>
                    <${Tile} link=${link} />
                    <span class="label">
                        <a class="cut" dir="auto" href=${`/dashboard/links/${link._id}`}>${titleOf(link)}</a>
                        <small class="cut"><${Sign} address=${link.shortUrl} /> · ${shortDay(link.createdAt)}</small>
                    </span>
                    <button
                        class="icon-button md"
                        aria-label=${t("links.copy", { name: withoutScheme(link.shortUrl) })}
                        title=${t("links.copyShort")}
                        onClick=${() => copy(link.shortUrl)}
                    >
                        <${Icon} name="copy" />
                    </button>
                </li>
            `,
        )}
    </ol>
    <p><a href="/dashboard/">${t("start.list")}</a></p>
`;
