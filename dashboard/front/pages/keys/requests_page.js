/** What the keys of the workspace requested, and what they got. */
import { dateAndTime, number } from "../../core/format.js";
import { html, useSignal } from "../../core/html.js";
import { navigate, query } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { AccountHeading } from "../account/sections.js";
import { listKeys, listRequests } from "./endpoints.js";

/** @typedef {import("./endpoints.js").Key} Key */
/** @typedef {import("./endpoints.js").LogEntry} LogEntry */

const STATUSES = ["2xx", "4xx", "5xx"];

export function Page() {
    const key = query.value.get("key") ?? "";
    const status = query.value.get("status") ?? "";
    const pages = useSignal(1);
    const keys = useLoaded(() => listKeys(1)).value?.keys ?? [];
    const loaded = useLoaded(() => listRequests({ ...(key && { key }), ...(status && { status }) }, pages.value), [key, status, pages.value]);
    /** @param {{key?: string, status?: string}} chosen */
    const choose = chosen => {
        const filters = Object.entries({ key, status, ...chosen }).filter(([, value]) => value !== "");
        pages.value = 1;
        navigate(`/dashboard/keys/requests${filters.length === 0 ? "" : `?${new URLSearchParams(filters)}`}`, { replace: true });
    };
    return html`
        <${AccountHeading} title=${t("requests.title")} />
        <div class="body">
        <p>${t("requests.text")}</p>
        <label class="narrow">
            ${t("requests.key")}
            <select name="key" onChange=${(/** @type {any} */ event) => choose({ key: event.target.value })}>
                <option value="" selected=${key === ""}>${t("filters.all")}</option>
                ${keys.map(({ _id: id, name }) => html`<option key=${id} value=${id} selected=${id === key}>${name}</option>`)}
            </select>
        </label>
        <label class="narrow">
            ${t("requests.status")}
            <select name="status" onChange=${(/** @type {any} */ event) => choose({ status: event.target.value })}>
                <option value="" selected=${status === ""}>${t("filters.all")}</option>
                ${STATUSES.map(name => html`<option key=${name} value=${name} selected=${name === status}>${name}</option>`)}
            </select>
        </label>
        <${Pending} of=${loaded} count=${5} />
        ${loaded.value?.requests.length === 0 && html`<p>${t("requests.none")}</p>`}
        <ol class="cards" reversed>
            ${loaded.value?.requests.map(
                (entry, position) => html`<${Entry} key=${`${entry.requestId} ${position}`} value=${entry} keys=${keys} />`,
            )}
        </ol>
        ${loaded.value?.hasMore && html`<button type="button" onClick=${() => pages.value++}>${t("history.more")}</button>`}
        </div>
    `;
}

/** @param {{keyId: string | null}} entry @param {Key[]} keys */
function nameOfKey({ keyId }, keys) {
    if (keyId === null) return t("requests.mainKey");
    return keys.find(({ _id }) => _id === keyId)?.name ?? t("requests.otherKey");
}

/** @param {{value: LogEntry, keys: Key[]}} properties */
const Entry = ({ value: entry, keys }) => html`
    <li data-request=${entry.requestId}>
        <div>
            <strong dir="ltr">${entry.method} ${entry.route}</strong>${" "}
            <span class="state" data-state=${entry.status < 400 ? "active" : "banned"}>${entry.status} ${entry.code}</span>
            <small>
                <time datetime=${entry.respondedAt}>${dateAndTime(entry.respondedAt)}</time>
                ${" · "}<span dir="auto">${nameOfKey(entry, keys)}</span>
                ${" · "}${t("requests.milliseconds", { number: number(Math.ceil(entry.milliseconds)) })}
            </small>
            <small dir="ltr">${entry.requestId}</small>
        </div>
        ${entry.docs !== null &&
        html`<a href=${entry.docs} aria-label=${t("requests.explainOne", { code: entry.code ?? "" })}>${t("requests.explain")}</a>`}
    </li>
`;
