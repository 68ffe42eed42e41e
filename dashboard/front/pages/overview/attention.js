/** What needs attention in the workspace: blocked, expiring and used-up links, domains that do not work, ending keys, unknown codes. */
import { account } from "../../core/account.js";
import { availableDomains } from "../../core/endpoints.js";
import { html } from "../../core/html.js";
import { shortDay } from "../../core/format.js";
import { withoutScheme } from "../../core/hues.js";
import { destinationOf } from "../../core/status.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { listDomains, listUnknownCodes } from "../domains/endpoints.js";
import { listKeys } from "../keys/endpoints.js";
import { readLinks } from "./endpoints.js";

/** @typedef {"banned" | "domain" | "pending" | "expiring" | "key" | "used" | "unknown"} Kind */
/** @typedef {{kind: Kind, key: string, title: string, text: string, address: string, action: string}} Item */

/** @type {Record<Kind, {icon: import("../../parts/icon.js").IconName, tone: "bad" | "warn" | "idle"}>} */
const LOOKS = {
    banned: { icon: "shield-alert", tone: "bad" },
    domain: { icon: "unplug", tone: "bad" },
    pending: { icon: "unplug", tone: "warn" },
    expiring: { icon: "calendar-clock", tone: "warn" },
    key: { icon: "key-round", tone: "warn" },
    used: { icon: "gauge", tone: "idle" },
    unknown: { icon: "search-x", tone: "idle" },
};
const SOON_DAYS = 7;
/** Fewer requests for a code may be a guess. */
const MANY_REQUESTS = 3;
const MOST_DOMAINS = 5;
const BASE = "base";
const SOON_MILLISECONDS = SOON_DAYS * 86_400_000;

/** @returns {Promise<Item[]>} the most urgent first */
async function readItems() {
    const [banned, expiring, used, domains, { keys }] = await Promise.all([
        readLinks({ status: "banned", limit: 1 }),
        readLinks({ status: "active", expiresWithin: SOON_DAYS, limit: 1 }),
        readLinks({ status: "limit_reached", limit: 1 }),
        listDomains(),
        listKeys(1),
    ]);
    return [
        ...ofLinks("banned", banned, "/dashboard/?status=banned"),
        ...domains.filter(({ status }) => status !== "active").map(ofDomain),
        ...ofLinks("expiring", expiring, `/dashboard/?status=active&expires=${SOON_DAYS}`),
        ...keys.filter(isEnding).map(ofKey),
        ...ofLinks("used", used, "/dashboard/?status=limit_reached"),
        ...(await Promise.all(domains.filter(({ status }) => status === "active").slice(0, MOST_DOMAINS).map(({ _id, fullDomain }) => unknownCode(_id, fullDomain)))).flat(),
    ];
}

/** Of the domain of the service, whose unknown codes the API gives to operators alone. @returns {Promise<Item[]>} */
async function readBaseItems() {
    if (!account.value?.isStaff) return [];
    const base = (await availableDomains()).find(({ id }) => id === BASE);
    return base === undefined ? [] : unknownCode(BASE, base.fullDomain);
}

/**
 * The code that most visitors of a domain requested although no link has it.
 * @param {string} id
 * @param {string} fullDomain
 * @returns {Promise<Item[]>}
 */
async function unknownCode(id, fullDomain) {
    const { codes } = await listUnknownCodes(id, 1);
    const most = codes.find(({ hits, isAvailable }) => isAvailable && hits >= MANY_REQUESTS);
    if (most === undefined) return [];
    const text = t("attention.unknown", { count: most.hits });
    return [{ kind: "unknown", key: `unknown ${id}`, title: `${fullDomain}/${most.code}`, text, address: "/dashboard/domains", action: t("attention.codes") }];
}

/**
 * One item for all links of a kind. It names the newest.
 * @param {"banned" | "expiring" | "used"} kind
 * @param {import("./endpoints.js").LinkPage} page
 * @param {string} address
 * @returns {Item[]}
 */
function ofLinks(kind, { urls: [link], pagination: { total } }, address) {
    if (link === undefined) return [];
    const name = link.title || withoutScheme(destinationOf(link));
    const text = total === 1 ? name : t("attention.andMore", { name, count: total - 1 });
    return [{ kind, key: kind, title: t(`attention.${kind}`, { count: total }), text, address, action: t("attention.show") }];
}

/** @param {import("../domains/endpoints.js").ListedDomain} domain @returns {Item} */
const ofDomain = ({ _id, fullDomain, status }) => ({
    kind: status === "pending" ? "pending" : "domain",
    key: _id,
    title: fullDomain,
    text: t(status === "pending" ? "attention.domainPending" : "attention.domainInactive"),
    address: "/dashboard/domains",
    action: t("attention.records"),
});

/** @param {import("../keys/endpoints.js").Key} key */
function isEnding({ expiresAt }) {
    const left = expiresAt ? Date.parse(expiresAt) - Date.now() : Infinity;
    return left > 0 && left < SOON_MILLISECONDS;
}

/** @param {import("../keys/endpoints.js").Key} key @returns {Item} */
const ofKey = ({ _id, name, expiresAt }) => ({
    kind: "key",
    key: _id,
    title: name,
    text: t("attention.key", { day: shortDay(expiresAt ?? "") }),
    address: "/dashboard/keys",
    action: t("attention.keys"),
});

export function Attention() {
    const loaded = useLoaded(readItems);
    const ofBase = useLoaded(readBaseItems, [account.value?.isStaff === true]);
    const items = loaded.value && [...loaded.value, ...(ofBase.value ?? [])];
    return html`
        <section class="attention" aria-label=${t("attention.title")}>
            <h2>${t("attention.title")} ${items !== null && items.length > 0 && html`<span class="muted">${items.length}</span>`}</h2>
            <${Pending} of=${loaded} />
            ${ofBase.failure !== null && loaded.failure === null && html`<${Pending} of=${ofBase} />`}
            ${items?.length === 0 && ofBase.value !== null && html`<p class="calm"><${Icon} name="check" />${t("attention.nothing")}</p>`}
            <ul>
                ${items?.map(
                    ({ kind, key, title, text, address, action }) => html`
                        <li key=${key} data-attention=${kind}>
                            <span class="mark" data-tone=${LOOKS[kind].tone}><${Icon} name=${LOOKS[kind].icon} /></span>
                            <div>
                                <b dir="auto">${title}</b>
                                <p dir="auto">${text}</p>
                                <a href=${address} aria-label=${`${action}: ${title}`}>${action}</a>
                            </div>
                        </li>
                    `,
                )}
            </ul>
        </section>
    `;
}
