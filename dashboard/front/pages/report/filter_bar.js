/** The filters of a report as chips, which can be turned round and removed. The form that adds others is loaded when it is first opened. */
import { availableDomains } from "../../core/endpoints.js";
import { html, useSignal } from "../../core/html.js";
import { listOf, textOfList } from "../../core/lists.js";
import { navigate, query } from "../../core/router.js";
import { tagLook } from "../../core/tags.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { useLoaded } from "../../parts/loaded.js";
import { LazyPage } from "../../parts/lazy.js";
import { addressWith } from "./controls.js";
import { adding, filtersOf, removing, removingAll } from "./filters.js";
import { nameOfFilter } from "./names.js";
import { chipsOfCreator, chipsOfLinks, useNames } from "./selected_links.js";

/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./selected_links.js").Names} Names */
/** @typedef {{key: string, label: string, value: string, tag?: boolean, turn?: {label: string, about: string, changes: Record<string, string | null>}, without: Record<string, string | null>}} Chip */

const loadForm = () => import("./filter_form.js").then(({ FilterForm }) => ({ Page: FilterForm }));

/**
 * Another report, to which the back button returns. The page stays where it is.
 * @param {Record<string, string | null>} changes of the address
 */
export const filterBy = changes => navigate(addressWith(changes), { scrolls: false });

/** @param {{report: Report, children: import("../../core/html.js").Children}} properties `children`: at the end of the line */
export function FilterBar({ report, children }) {
    const isOpen = useSignal(false);
    const domains = useLoaded(() => (report.isOfLink ? Promise.resolve([]) : availableDomains())).value ?? [];
    const names = useNames(report, isOpen.value);
    const chips = [...chipsOfSelection(report, domains, names), ...chipsOfFilters(report)];
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
            ${isOpen.value && html`<${LazyPage} load=${loadForm} report=${report} domains=${domains} names=${names} />`}
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
 * @param {Names} names
 * @returns {Chip[]}
 */
function chipsOfSelection({ isOfLink }, domains, names) {
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
            without: { [name]: textOfList(listOf(value(name)).filter(other => other !== tag)) || null },
        }));
    const domain = value("domainId");
    return [
        ...ofTags("tags", t("filters.tag")),
        ...ofTags("excludeTags", t("filters.excludeTag")),
        ...(value("tagsMode") === "all" ? [{ key: "tagsMode", label: t("filters.tagsMode"), value: t("filters.allTags"), without: { tagsMode: null } }] : []),
        ...(domain ? [{ key: "domain", label: t("field.domainId"), value: domains.find(({ id }) => id === domain)?.fullDomain ?? domain, without: { domainId: null } }] : []),
        ...chipsOfCreator(names),
        ...chipsOfLinks(names),
    ];
}
