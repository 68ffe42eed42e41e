/** The filters of a report as chips, which can be turned round and removed, and a form that adds others. */
import { availableDomains } from "../../core/endpoints.js";
import { html, useSignal } from "../../core/html.js";
import { listOf } from "../../core/lists.js";
import { navigate, query } from "../../core/router.js";
import { tagLook } from "../../core/tags.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { useLoaded } from "../../parts/loaded.js";
import { Suggesting } from "../../parts/suggesting.js";
import { TagsInput } from "../../parts/tags_input.js";
import { addressWith } from "./controls.js";
import { DIMENSIONS, adding, filtersOf, removing, removingAll } from "./filters.js";
import { nameOfFilter } from "./names.js";

/** @typedef {import("./filters.js").Dimension} Dimension */
/** @typedef {import("./report.js").Report} Report */
/** @typedef {{key: string, label: string, value: string, tag?: boolean, turn?: {label: string, about: string, changes: Record<string, string | null>}, without: Record<string, string | null>}} Chip */

/**
 * Another report, to which the back button returns. The page stays where it is.
 * @param {Record<string, string | null>} changes of the address
 */
export const filterBy = changes => navigate(addressWith(changes), { scrolls: false });

/** @param {{report: Report, children: import("../../core/html.js").Children}} properties `children`: at the end of the line */
export function FilterBar({ report, children }) {
    const isOpen = useSignal(false);
    const domains = useLoaded(() => (report.isOfLink ? Promise.resolve([]) : availableDomains())).value ?? [];
    const chips = [...chipsOfSelection(report, domains), ...chipsOfFilters(report)];
    return html`
        <div class="filter-bar">
            <button type="button" class="small-button" aria-expanded=${isOpen.value ? "true" : "false"} aria-controls="report-filters" onClick=${() => (isOpen.value = !isOpen.value)}>
                <${Icon} name="list-filter" />${t("filters.open")}
            </button>
            ${chips.map(chip => html`<${FilterChip} key=${chip.key} chip=${chip} />`)}
            ${chips.length > 0 && html`<button type="button" class="quiet small-button" onClick=${() => filterBy(removingAll())}>${t("filters.clear")}</button>`}
            ${children}
        </div>
        <div class="filters" id="report-filters" hidden=${!isOpen.value}>
            ${isOpen.value &&
            html`
                <${Adding} report=${report} />
                ${!report.isOfLink && html`<${Selecting} domains=${domains} />`}
            `}
        </div>
    `;
}

/** @param {{chip: Chip}} properties */
const FilterChip = ({ chip: { label, value, tag, turn, without } }) => html`
    <span class="chip chip-filter">
        <span dir="auto">
            <i>${label}</i>${" "}
            ${turn && html`<button type="button" class="turn" aria-label=${`${label} ${turn.label} ${value}: ${turn.about}`} title=${turn.about} onClick=${() => filterBy(turn.changes)}>${turn.label}</button>${" "}`}
            ${tag ? html`<span ...${tagLook(value)}>${value}</span>` : value}
        </span>
        <button type="button" aria-label=${t("filters.remove", { filter: `${label} ${value}` })} onClick=${() => filterBy(without)}><${Icon} name="x" /></button>
    </span>
`;

/** @param {Report} report @returns {Chip[]} */
function chipsOfFilters(report) {
    return filtersOf(query.value).map(({ dimension, value, isExcluded }) => {
        const label = t(`dimension.${dimension}`);
        const name = nameOfFilter(dimension, value, report.branches);
        return {
            key: `${dimension} ${value}`,
            label,
            value: name,
            turn: {
                label: t(isExcluded ? "filters.isNot" : "filters.is"),
                about: t(isExcluded ? "filters.include" : "filters.exclude", { filter: name }),
                changes: adding(query.value, dimension, [value], !isExcluded),
            },
            without: removing(query.value, dimension, [value]),
        };
    });
}

/**
 * Those that select links.
 * @param {Report} report
 * @param {import("../../core/endpoints.js").Domains} domains
 * @returns {Chip[]}
 */
function chipsOfSelection({ isOfLink }, domains) {
    if (isOfLink) return [];
    /** @param {string} name */
    const value = name => query.value.get(name) ?? "";
    /** @param {"tags" | "excludeTags"} name @param {string} label @returns {Chip[]} */
    const ofTags = (name, label) =>
        listOf(value(name)).map(tag => ({
            key: `${name} ${tag}`,
            label,
            value: tag,
            tag: true,
            without: { [name]: listOf(value(name)).filter(other => other !== tag).join(",") || null },
        }));
    const domain = value("domainId");
    return [
        ...ofTags("tags", t("filters.tag")),
        ...ofTags("excludeTags", t("filters.excludeTag")),
        ...(value("tagsMode") === "all" ? [{ key: "tagsMode", label: t("filters.tagsMode"), value: t("filters.allTags"), without: { tagsMode: null } }] : []),
        ...(domain ? [{ key: "domain", label: t("field.domainId"), value: domains.find(({ id }) => id === domain)?.fullDomain ?? domain, without: { domainId: null } }] : []),
        ...(value("urlIds") ? [{ key: "urlIds", label: t("links.title"), value: String(listOf(value("urlIds")).length), without: { urlIds: null } }] : []),
    ];
}

/** Any value of any dimension, also one that the panels do not show. @param {{report: Report}} properties */
function Adding({ report }) {
    const dimension = useSignal(/** @type {Dimension} */ ("country"));
    const isExcluded = useSignal(false);
    const typed = useSignal("");
    const known = report.valuesOf(dimension.value);
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

/** @param {{domains: import("../../core/endpoints.js").Domains}} properties */
function Selecting({ domains }) {
    const tags = listOf(query.value.get("tags") ?? "");
    const excluded = listOf(query.value.get("excludeTags") ?? "");
    const domain = query.value.get("domainId") ?? "";
    return html`
        <${TagsInput} name="tags" label=${t("field.tags")} values=${tags} onChange=${(/** @type {string[]} */ next) => filterBy({ tags: next.join(",") || null, ...(next.length < 2 && { tagsMode: null }) })} />
        ${tags.length > 1 &&
        html`<label>
            ${t("filters.tagsMode")}
            <select name="tagsMode" value=${query.value.get("tagsMode") ?? ""} onChange=${(/** @type {any} */ event) => filterBy({ tagsMode: event.target.value || null })}>
                <option value="">${t("filters.anyTag")}</option>
                <option value="all">${t("filters.allTags")}</option>
            </select>
        </label>`}
        <${TagsInput} name="excludeTags" label=${t("filters.excludeTags")} values=${excluded} onChange=${(/** @type {string[]} */ next) => filterBy({ excludeTags: next.join(",") || null })} />
        ${domains.length > 1 &&
        html`<label>
            ${t("field.domainId")}
            <select name="domainId" value=${domain} onChange=${(/** @type {any} */ event) => filterBy({ domainId: event.target.value || null })}>
                <option value="">${t("filters.all")}</option>
                ${domains.map(({ id, fullDomain }) => html`<option key=${id} value=${id}>${fullDomain}</option>`)}
            </select>
        </label>`}
    `;
}
