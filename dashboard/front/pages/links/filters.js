import { html, useEffect, useRef } from "../../core/html.js";
import { availableDomains } from "../../core/endpoints.js";
import { t } from "../../core/texts.js";
import { useLoaded } from "../../parts/loaded.js";
import { FIRST_DAY, LAST_DAY, change, filters, isDay } from "./state.js";

const SEARCH = "link-search";
// Long enough to type the next letter, short enough to see the hits while typing.
const TYPING_MILLISECONDS = 200;

export const focusSearch = () => document.getElementById(SEARCH)?.focus();

/**
 * A field that changes a filter after a pause in typing. The list does not overwrite it while it has the focus.
 * @param {{name: "search" | "tags", label: string, id?: string, type: string}} properties
 */
function Typed({ name, label, id, type }) {
    const field = useRef(/** @type {HTMLInputElement | null} */ (null));
    const timer = useRef(0);
    const value = filters.value[name];
    const apply = () => {
        clearTimeout(timer.current);
        if (field.current && field.current.value.trim() !== filters.value[name]) {
            change({ [name]: field.current.value.trim() });
        }
    };
    useEffect(() => {
        if (field.current && document.activeElement !== field.current) field.current.value = value;
    }, [value]);
    return html`
        <label>
            ${label}
            <input
                ref=${field}
                id=${id}
                type=${type}
                autocomplete="off"
                spellcheck=${false}
                onInput=${() => {
                    clearTimeout(timer.current);
                    timer.current = window.setTimeout(apply, TYPING_MILLISECONDS);
                }}
                onChange=${apply}
            />
        </label>
    `;
}

/**
 * The default domain comes first. Nothing without a custom domain, unless the address names a domain. As the eighth
 * filter it needs no row of its own, so nothing moves when the domains arrive.
 */
function Domain() {
    const { domain } = filters.value;
    const domains = useLoaded(availableDomains).value ?? [];
    const isListed = domains.some(({ id }) => id === domain);
    if (domains.length < 2 && domain === "") return null;
    return html`
        <label>
            ${t("field.domainId")}
            <select value=${domain} onChange=${(/** @type {any} */ event) => change({ domain: event.target.value })}>
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
    const { isActive, from, until, sortBy, sortOrder } = filters.value;
    /** @type {(name: any) => (event: any) => void} */
    const choose = name => event => change({ [name]: event.target.value });
    return html`
        <form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
            <${Typed} name="search" id=${SEARCH} type="search" label=${t("filters.search")} />
            <${Typed} name="tags" type="text" label=${t("filters.tags")} />
            <label>
                ${t("filters.status")}
                <select value=${isActive} onChange=${choose("isActive")}>
                    <option value="">${t("filters.all")}</option>
                    <option value="true">${t("state.active")}</option>
                    <option value="false">${t("state.off")}</option>
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
                ${t("filters.sort")}
                <select value=${sortBy} onChange=${choose("sortBy")}>
                    <option value="createdAt">${t("column.created")}</option>
                    <option value="clickCount">${t("column.clicks")}</option>
                    <option value="title">${t("column.title")}</option>
                </select>
            </label>
            <label>
                ${t("filters.order")}
                <select value=${sortOrder} onChange=${choose("sortOrder")}>
                    <option value="desc">${t("filters.descending")}</option>
                    <option value="asc">${t("filters.ascending")}</option>
                </select>
            </label>
            <${Domain} />
        </form>
    `;
}
