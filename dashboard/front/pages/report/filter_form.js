/** The form that filters a report: any value of any property, and the links of a workspace that the report covers. */
import { countries } from "../../core/countries.js";
import { listLinks } from "../../core/endpoints.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { listOf, textOfList } from "../../core/lists.js";
import { query } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { Suggesting } from "../../parts/suggesting.js";
import { TagsInput } from "../../parts/tags_input.js";
import { filterBy } from "./filter_bar.js";
import { DIMENSIONS, UNSET, adding } from "./filters.js";
import { nameOfFilter } from "./names.js";
import { MOST_LINKS, adoptNames } from "./selected_links.js";

/** @typedef {import("./filters.js").Dimension} Dimension */
/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./selected_links.js").Names} Names */

const TYPING_MILLISECONDS = 150;
const HITS = 8;

/** The values that a dimension can have at all. @type {Partial<Record<Dimension, readonly string[]>>} */
const FIXED = {
    country: countries,
    device: ["desktop", "mobile", "tablet", "unknown"],
    channel: ["direct", "search", "social", "email", "ai", "referral", "qr", "unknown"],
    kind: ["click", "refused", "head", "prefetch", "crawler", "ignored"],
    utmSource: [UNSET],
    utmMedium: [UNSET],
    utmCampaign: [UNSET],
    utmTerm: [UNSET],
    utmContent: [UNSET],
    continent: ["AF", "AN", "AS", "EU", "NA", "OC", "SA", "unknown"],
};

/**
 * The values of a dimension to filter by: those that the report has come first.
 * @param {Report} report
 * @param {Dimension} dimension
 * @returns {{name: string, values: string[]}[]}
 */
function valuesOf(report, dimension) {
    if (dimension === "branch") return report.branches.map(({ _id, name }) => ({ name, values: [_id] }));
    const known = report.figures.value?.lists[dimension]?.filter(({ values }) => values.length > 0) ?? [];
    const others = (FIXED[dimension] ?? []).filter(value => !known.some(({ values }) => values.includes(value)));
    return [...known, ...others.map(value => ({ name: nameOfFilter(dimension, value), values: [value] }))];
}

/** @param {{report: Report, domains: import("../../core/endpoints.js").Domains, names: Names}} properties */
export const FilterForm = ({ report, domains, names }) => html`
    <${Adding} report=${report} />
    ${!report.isOfLink && html`<${Selecting} domains=${domains} names=${names} />`}
`;

/** Any value of any dimension, also one that the panels do not show. @param {{report: Report}} properties */
function Adding({ report }) {
    const dimension = useSignal(/** @type {Dimension} */ ("country"));
    const isExcluded = useSignal(false);
    const typed = useSignal("");
    const known = valuesOf(report, dimension.value);
    /** @param {string} text */
    const valuesNamed = text => known.find(({ name }) => name.toLowerCase() === text.toLowerCase())?.values ?? [text];
    /** @param {string} text */
    const add = text => {
        if (text.trim() === "") return;
        filterBy(adding(query.value, dimension.value, valuesNamed(text.trim()), isExcluded.value));
        typed.value = "";
    };
    return html`
        <form
            class="adding"
            onSubmit=${(/** @type {Event} */ event) => {
                event.preventDefault();
                add(typed.value);
            }}
        >
            <label>
                ${t("filters.dimension")}
                <select name="dimension" value=${dimension.value} onChange=${(/** @type {any} */ event) => (dimension.value = event.target.value)}>
                    ${DIMENSIONS.filter(name => name !== "branch" || report.branches.length > 0).map(
                        name => html`<option key=${name} value=${name}>${t(`dimension.${name}`)}</option>`,
                    )}
                </select>
            </label>
            <label>
                ${t("filters.operator")}
                <select name="operator" onChange=${(/** @type {any} */ event) => (isExcluded.value = event.target.value === "isNot")}>
                    <option value="is">${t("filters.is")}</option>
                    <option value="isNot">${t("filters.isNot")}</option>
                </select>
            </label>
            <div>
                <label for="filter-value">${t("filters.value")}</label>
                <span class="suggesting">
                    <${Suggesting}
                        id="filter-value"
                        name="value"
                        options=${known.map(({ name }) => name)}
                        value=${typed.value}
                        onType=${(/** @type {string} */ text) => (typed.value = text)}
                        onChoose=${add}
                    />
                </span>
            </div>
            <button type="submit" class="button">${t("filters.add")}</button>
        </form>
    `;
}

/** @param {{domains: import("../../core/endpoints.js").Domains, names: Names}} properties */
function Selecting({ domains, names: { members } }) {
    const tags = listOf(query.value.get("tags") ?? "");
    const excluded = listOf(query.value.get("excludeTags") ?? "");
    const domain = query.value.get("domainId") ?? "";
    const creator = query.value.get("creator") ?? "";
    return html`
        <${Links} />
        <${TagsInput} name="tags" label=${t("field.tags")} values=${tags} onChange=${(/** @type {string[]} */ next) => filterBy({ tags: textOfList(next) || null, ...(next.length < 2 && { tagsMode: null }) })} />
        ${tags.length > 1 &&
        html`<label>
            ${t("filters.tagsMode")}
            <select name="tagsMode" value=${query.value.get("tagsMode") ?? ""} onChange=${(/** @type {any} */ event) => filterBy({ tagsMode: event.target.value || null })}>
                <option value="">${t("filters.anyTag")}</option>
                <option value="all">${t("filters.allTags")}</option>
            </select>
        </label>`}
        <${TagsInput} name="excludeTags" label=${t("filters.excludeTags")} values=${excluded} onChange=${(/** @type {string[]} */ next) => filterBy({ excludeTags: textOfList(next) || null })} />
        ${domains.length > 1 &&
        html`<label>
            ${t("field.domainId")}
            <select name="domainId" value=${domain} onChange=${(/** @type {any} */ event) => filterBy({ domainId: event.target.value || null })}>
                <option value="">${t("filters.all")}</option>
                ${domains.map(({ id, fullDomain }) => html`<option key=${id} value=${id}>${fullDomain}</option>`)}
            </select>
        </label>`}
        ${members.length > 1 &&
        html`<label>
            ${t("filters.creator")}
            <select name="creator" value=${creator} onChange=${(/** @type {any} */ event) => filterBy({ creator: event.target.value || null })}>
                <option value="">${t("filters.all")}</option>
                ${members.map(({ _id, name }) => html`<option key=${_id} value=${_id}>${name}</option>`)}
            </select>
        </label>`}
    `;
}

/** Finds links, and adds them to those that the report covers. */
function Links() {
    const typed = useSignal("");
    const hits = useSignal(/** @type {import("../../core/endpoints.js").ListedUrl[]} */ ([]));
    const chosen = listOf(query.value.get("urlIds") ?? "");
    const isFull = chosen.length >= MOST_LINKS;
    useEffect(() => {
        const aborting = new AbortController();
        const find = () =>
            listLinks({ search: typed.value.trim(), limit: HITS, sortBy: "clickCount" }, aborting.signal).then(
                ({ urls }) => (hits.value = urls),
                // Without hits, nothing can be chosen; the next letter tries again.
                () => {},
            );
        const timer = setTimeout(find, TYPING_MILLISECONDS);
        return () => {
            clearTimeout(timer);
            aborting.abort();
        };
    }, [typed.value]);
    /** @param {string} id */
    const hit = id => hits.value.find(({ _id }) => _id === id);
    /** @param {string} id */
    const nameOf = id => {
        const link = hit(id);
        return link === undefined ? id : [link.title, withoutScheme(link.shortUrl)].filter(Boolean).join(" · ");
    };
    return html`
        <div>
            <label for="filter-links">${t("links.title")}</label>
            <span class="suggesting">
                <${Suggesting}
                    id="filter-links"
                    name="links"
                    placeholder=${t("filters.searchHint")}
                    disabled=${isFull}
                    options=${hits.value.map(({ _id }) => _id).filter(id => !chosen.includes(id))}
                    nameOf=${nameOf}
                    areHits
                    value=${typed.value}
                    onType=${(/** @type {string} */ text) => (typed.value = text)}
                    onChoose=${(/** @type {string} */ id) => {
                        adoptNames(hits.value);
                        typed.value = "";
                        filterBy({ urlIds: [...chosen, id].join(",") });
                    }}
                />
            </span>
            ${isFull && html`<small>${t("filters.mostLinks", { count: MOST_LINKS })}</small>`}
        </div>
    `;
}
