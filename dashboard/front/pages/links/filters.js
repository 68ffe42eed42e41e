/** Above the list: the search, the filters behind one button, a chip for each filter that is set, and the order. */
import { availableDomains } from "../../core/endpoints.js";
import { day } from "../../core/format.js";
import { html, useEffect, useRef, useSignal } from "../../core/html.js";
import { listOf, textOfList } from "../../core/lists.js";
import { chooseDensity, density } from "../../core/preferences.js";
import { STATUSES } from "../../core/status.js";
import { tagLook } from "../../core/tags.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { useLoaded } from "../../parts/loaded.js";
import { TagsInput } from "../../parts/tags_input.js";
import { ARCHIVED, EXPIRY_DAYS, FIRST_DAY, LAST_DAY, UNFILTERED, change, filters, isDay, isFiltered } from "./state.js";

/** @typedef {import("../../core/texts.js").Key} Key */
/** @typedef {import("../../core/endpoints.js").Domains} Domains */

const SEARCH = "link-search";
// Long enough to type the next letter, short enough to see the hits while typing.
const TYPING_MILLISECONDS = 200;
/** The orders of the list: the newest first, and so on. */
const ORDERS = /** @type {const} */ ([
    ["createdAt", "desc", "order.newest"],
    ["createdAt", "asc", "order.oldest"],
    ["clickCount", "desc", "order.mostClicks"],
    ["clickCount", "asc", "order.fewestClicks"],
    ["title", "asc", "order.title"],
    ["title", "desc", "order.titleDown"],
]);

export const focusSearch = () => document.getElementById(SEARCH)?.focus();

/**
 * A field that changes the search after a pause in typing. The list does not overwrite it while it has the focus.
 */
function Search() {
    const field = useRef(/** @type {HTMLInputElement | null} */ (null));
    const timer = useRef(0);
    const value = filters.value.search;
    const apply = () => {
        clearTimeout(timer.current);
        if (field.current && field.current.value.trim() !== filters.value.search) {
            change({ search: field.current.value.trim() });
        }
    };
    useEffect(() => {
        if (field.current && document.activeElement !== field.current) field.current.value = value;
    }, [value]);
    return html`
        <input
            ref=${field}
            id=${SEARCH}
            name="search"
            type="search"
            aria-label=${t("filters.search")}
            placeholder=${t("filters.searchHint")}
            autocomplete="off"
            spellcheck=${false}
            onInput=${() => {
                clearTimeout(timer.current);
                timer.current = window.setTimeout(apply, TYPING_MILLISECONDS);
            }}
            onChange=${apply}
        />
    `;
}

/**
 * The default domain comes first. Nothing without a custom domain, unless the address names a domain.
 * @param {{domains: Domains}} properties
 */
function Domain({ domains }) {
    const { domain } = filters.value;
    const isListed = domains.some(({ id }) => id === domain);
    if (domains.length < 2 && domain === "") return null;
    return html`
        <label>
            ${t("field.domainId")}
            <select name="domain" value=${domain} onChange=${(/** @type {any} */ event) => change({ domain: event.target.value })}>
                <option value="">${t("filters.all")}</option>
                ${domains.map(
                    ({ id, fullDomain }) => html`<option key=${id} value=${id} selected=${id === domain}>${fullDomain}</option>`,
                )}
                ${domain !== "" && !isListed && html`<option value=${domain} selected>${domain}</option>`}
            </select>
        </label>
    `;
}

/**
 * Chromium reports a change for each digit of a typed year, such as 0002 and 0020. They are no filters.
 * @param {{name: "from" | "until", min: string, max: string}} properties
 */
function Day({ name, min, max }) {
    const value = filters.value[name];
    /** @param {any} event */
    const apply = ({ target }) => {
        if (target.value === "" || isDay(target.value)) change({ [name]: target.value });
    };
    // The field shows the filter that the list uses, not a year that is incomplete.
    /** @param {any} event */
    const restore = ({ target }) => (target.value = filters.value[name]);
    return html`<input type="date" value=${value} min=${min} max=${max} onChange=${apply} onBlur=${restore} />`;
}

export function Filters() {
    const isOpen = useSignal(false);
    const domains = useLoaded(availableDomains).value ?? [];
    const { sortBy, sortOrder } = filters.value;
    return html`
        <form role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
            <div class="tools">
                <div class="search">
                    <${Icon} name="search" />
                    <${Search} />
                </div>
                <button
                    type="button"
                    aria-expanded=${isOpen.value ? "true" : "false"}
                    aria-controls="link-filters"
                    onClick=${() => (isOpen.value = !isOpen.value)}
                >
                    <${Icon} name="list-filter" />${t("filters.open")}
                </button>
                <${Chips} domains=${domains} />
                <${Densities} />
                <label class="order">
                    <span class="visually-hidden">${t("filters.sort")}</span>
                    <select
                        onChange=${(/** @type {any} */ event) => {
                            const [by, order] = event.target.value.split(" ");
                            change({ sortBy: by, sortOrder: order });
                        }}
                    >
                        ${ORDERS.map(
                            ([by, order, label]) => html`
                                <option value=${`${by} ${order}`} selected=${by === sortBy && order === sortOrder}>${t(label)}</option>
                            `,
                        )}
                    </select>
                </label>
            </div>
            <div class="filters" id="link-filters" hidden=${!isOpen.value}>${isOpen.value && html`<${Panel} domains=${domains} />`}</div>
        </form>
    `;
}

/** @type {[name: import("../../core/preferences.js").Density, icon: import("../../parts/icon.js").IconName, label: Key][]} */
const DENSITIES = [
    ["", "rows-2", "density.roomy"],
    ["compact", "rows-4", "density.compact"],
];

const Densities = () => html`
    <div class="seg densities wide-only" role="group" aria-label=${t("density.label")}>
        ${DENSITIES.map(
            ([name, icon, label]) => html`
                <button
                    key=${name}
                    type="button"
                    aria-label=${t(label)}
                    title=${t(label)}
                    aria-pressed=${density.value === name ? "true" : "false"}
                    onClick=${() => chooseDensity(name)}
                >
                    <${Icon} name=${icon} />
                </button>
            `,
        )}
    </div>
`;

/** @param {{domains: Domains}} properties */
function Panel({ domains }) {
    const { tags, tagsMode, excludeTags, status, health, archived, from, until, expires } = filters.value;
    const chosen = listOf(tags);
    return html`
        <${TagsInput} name="tags" label=${t("field.tags")} values=${chosen} onChange=${(/** @type {string[]} */ next) => change({ tags: textOfList(next) })} />
        ${chosen.length > 1 &&
        html`<label>
            ${t("filters.tagsMode")}
            <select name="tagsMode" onChange=${(/** @type {any} */ event) => change({ tagsMode: event.target.value })}>
                <option value="" selected=${tagsMode === ""}>${t("filters.anyTag")}</option>
                <option value="all" selected=${tagsMode === "all"}>${t("filters.allTags")}</option>
            </select>
        </label>`}
        <${TagsInput} name="excludeTags" label=${t("filters.excludeTags")} values=${listOf(excludeTags)} onChange=${(/** @type {string[]} */ next) => change({ excludeTags: textOfList(next) })} />
        <label>
            ${t("filters.status")}
            <select name="status" onChange=${(/** @type {any} */ event) => change({ status: event.target.value })}>
                <option value="" selected=${status === ""}>${t("filters.all")}</option>
                ${STATUSES.map(name => html`<option key=${name} value=${name} selected=${name === status}>${t(`status.${name}`)}</option>`)}
            </select>
        </label>
        <label>
            ${t("filters.health")}
            <select name="health" onChange=${(/** @type {any} */ event) => change({ health: event.target.value })}>
                <option value="" selected=${health === ""}>${t("filters.all")}</option>
                <option value="dead" selected=${health === "dead"}>${t("health.dead")}</option>
            </select>
        </label>
        <label>
            ${t("filters.archived")}
            <select name="archived" onChange=${(/** @type {any} */ event) => change({ archived: event.target.value })}>
                <option value="" selected=${archived === ""}>${t("archived.no")}</option>
                ${ARCHIVED.map(name => html`<option key=${name} value=${name} selected=${name === archived}>${t(`archived.${name}`)}</option>`)}
            </select>
        </label>
        <label>
            ${t("filters.from")}
            <${Day} name="from" min=${FIRST_DAY} max=${until || LAST_DAY} />
        </label>
        <label>
            ${t("filters.until")}
            <${Day} name="until" min=${from || FIRST_DAY} max=${LAST_DAY} />
        </label>
        <label>
            ${t("filters.expires")}
            <select name="expires" onChange=${(/** @type {any} */ event) => change({ expires: event.target.value })}>
                <option value="" selected=${expires === ""}>${t("filters.all")}</option>
                ${EXPIRY_DAYS.map(days => html`<option key=${days} value=${days} selected=${days === expires}>${within(days)}</option>`)}
            </select>
        </label>
        <${Domain} domains=${domains} />
    `;
}

/** @param {string} days */
const within = days => t("filters.within", { count: Number(days) });

/** @typedef {{label: string, value: string, tag?: string, without: Partial<typeof UNFILTERED>}} Chip `without`: the change that removes it */

/**
 * A chip for each tag, and for every other filter.
 * @param {Domains} domains
 * @returns {Chip[]}
 */
function chipsOf(domains) {
    const { tags, tagsMode, excludeTags, status, health, archived, domain, from, until, expires } = filters.value;
    /** @param {"tags" | "excludeTags"} name @param {string} text @param {Key} label */
    const ofTags = (name, text, label) =>
        listOf(text).map(tag => ({ label: t(label), value: tag, tag, without: { [name]: textOfList(listOf(text).filter(other => other !== tag)) } }));
    /** @type {[name: keyof typeof UNFILTERED, label: Key, value: string][]} */
    const others = [
        ["tagsMode", "filters.tagsMode", tagsMode && t("filters.allTags")],
        ["status", "filters.status", status && t(`status.${status}`)],
        ["health", "filters.health", health && t("health.dead")],
        ["archived", "filters.archived", archived && t(`archived.${archived}`)],
        ["domain", "field.domainId", domain && (domains.find(({ id }) => id === domain)?.fullDomain ?? domain)],
        ["from", "filters.from", from && day(`${from}T12:00`)],
        ["until", "filters.until", until && day(`${until}T12:00`)],
        ["expires", "filters.expires", expires && within(expires)],
    ];
    return [
        ...ofTags("tags", tags, "filters.tag"),
        ...ofTags("excludeTags", excludeTags, "filters.excludeTag"),
        ...others.filter(([, , value]) => value !== "").map(([name, label, value]) => ({ label: t(label), value, without: { [name]: "" } })),
    ];
}

/** @param {{domains: Domains}} properties */
const Chips = ({ domains }) => html`
    ${chipsOf(domains).map(
        ({ label, value, tag, without }) => html`
            <span key=${`${label} ${value}`} class="chip chip-filter">
                <span dir="auto"><i>${label}</i> ${tag === undefined ? value : html`<span ...${tagLook(tag)}>${tag}</span>`}</span>
                <button type="button" aria-label=${t("filters.remove", { filter: tag === undefined ? label : `${label} ${tag}` })} onClick=${() => change(without)}>
                    <${Icon} name="x" />
                </button>
            </span>
        `,
    )}
    ${isFiltered.value && html`<button type="button" class="quiet" onClick=${() => change(UNFILTERED)}>${t("filters.clear")}</button>`}
`;
