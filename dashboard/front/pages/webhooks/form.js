/** The form of an endpoint: where messages go, about what, and about which links. */
import { workspace } from "../../core/account.js";
import { availableDomains, listLinks } from "../../core/endpoints.js";
import { withoutScheme } from "../../core/hues.js";
import { html, useEffect, useMemo, useSignal } from "../../core/html.js";
import { nameOf } from "../../core/people.js";
import { t } from "../../core/texts.js";
import { Chips } from "../../parts/chips.js";
import { Input, Submit } from "../../parts/input.js";
import { useLoaded } from "../../parts/loaded.js";
import { Sending } from "../../parts/sending.js";
import { TagsInput } from "../../parts/tags_input.js";
import { listMembers } from "../workspaces/endpoints.js";
import { idsOfLinks, namesOfLinks } from "./links.js";
import { GROUPS, nameOfType } from "./types.js";

/** @typedef {import("./endpoints.js").Webhook} Webhook */
/** @typedef {import("./endpoints.js").Format} Format */
/** @typedef {import("./endpoints.js").EventType} EventType */

const FORMATS = /** @type {const} */ (["standard", "slack", "discord", "teams", "mail"]);
const OWN_MESSAGES = ["name", "url", "memberIds", "types", "filters.tags", "filters.urlIds", "filters.domainIds"];

/**
 * @param {object} properties
 * @param {Webhook} [properties.of] without it, a new endpoint
 * @param {string} properties.label of the button
 * @param {(fields: any, idempotencyKey: string) => Promise<void>} properties.onSave
 */
export function WebhookForm({ of: webhook, label, onSave }) {
    const name = useSignal(webhook?.name ?? "");
    const format = useSignal(/** @type {Format} */ (webhook?.format ?? "standard"));
    const url = useSignal(webhook?.url ?? "");
    const members = useSignal(new Set(webhook?.memberIds ?? []));
    const types = useSignal(/** @type {Set<string>} */ (new Set(webhook?.types ?? [])));
    const tags = useSignal(webhook?.filters.tags ?? []);
    const domains = useSignal(webhook?.filters.domainIds ?? []);
    const links = useSignal(/** @type {string[]} */ ([]));
    /** Ids by short URL. */
    const known = useMemo(() => /** @type {Map<string, string>} */ (new Map()), []);
    const sending = useMemo(() => new Sending(), []);
    const hasFilters = useMemo(() => webhook !== undefined && Object.values(webhook.filters).some(({ length }) => length > 0), []);
    const isNamed = useSignal((webhook?.filters.urlIds.length ?? 0) === 0);
    useEffect(() => {
        const ids = webhook?.filters.urlIds ?? [];
        if (ids.length > 0) {
            namesOfLinks(ids).then(names => {
                names.forEach((one, at) => known.set(one, ids[at]));
                links.value = names;
                isNamed.value = true;
            });
        }
    }, []);
    const isMail = format.value === "mail";
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        return sending.run(async () => {
            // Until the links have their names, the filter is what it was.
            const urlIds = isNamed.value ? await idsOfLinks(links.value, known) : webhook?.filters.urlIds;
            const fields = {
                name: name.value,
                ...(webhook === undefined && { format: format.value }),
                ...(isMail ? { memberIds: [...members.value] } : url.value.trim() !== "" && { url: url.value.trim() }),
                types: GROUPS.flatMap(group => group.types).filter(type => types.value.has(type)),
                filters: { tags: tags.value, urlIds, domainIds: domains.value },
            };
            await onSave(fields, sending.idempotencyKey);
        });
    };
    const prefix = webhook?._id ?? "new";
    const errors = sending.errors.value;
    return html`
        <form class="webhook narrow" onSubmit=${submit}>
            <${Input} sending=${sending} name="name" label=${t("webhooks.name")} value=${name} required maxlength="100" dir="auto" autocomplete="off" />
            ${webhook === undefined && html`<${Formats} chosen=${format} />`}
            ${isMail
                ? html`<${Members} chosen=${members} error=${errors.memberIds} />`
                : html`<${Input}
                      sending=${sending}
                      name="url"
                      type="url"
                      dir="ltr"
                      label=${t("webhooks.url")}
                      hint=${hintOf(format.value, webhook)}
                      value=${url}
                      required=${webhook === undefined}
                      placeholder="https://"
                      autocomplete="off"
                  />`}
            <${Types} chosen=${types} error=${errors.types} />
            <details open=${hasFilters}>
                <summary>${t("webhooks.filters")}</summary>
                <div class="stack">
                    <p><small>${t("webhooks.filtersText")}</small></p>
                    <${TagsInput}
                        name=${`${prefix}-tags`}
                        label=${t("webhooks.tags")}
                        values=${tags.value}
                        error=${errors["filters.tags"]}
                        onChange=${(/** @type {string[]} */ next) => (tags.value = next)}
                    />
                    ${isNamed.value &&
                    html`<${Links} name=${`${prefix}-links`} chosen=${links} known=${known} error=${errors["filters.urlIds"]} />`}
                    <${Domains} name=${`${prefix}-domains`} chosen=${domains} error=${errors["filters.domainIds"]} />
                </div>
            </details>
            <${Submit} sending=${sending} fields=${OWN_MESSAGES} label=${label} />
        </form>
    `;
}

/**
 * @param {Format} format
 * @param {Webhook} [webhook]
 */
function hintOf(format, webhook) {
    if (format === "standard") return t("webhooks.urlHint");
    return t(webhook === undefined ? "webhooks.chatHint" : "webhooks.keptHint");
}

/** @param {{chosen: import("../../core/html.js").Signal<Format>}} properties */
const Formats = ({ chosen }) => html`
    <label>
        ${t("webhooks.format")}
        <select name="format" onChange=${(/** @type {any} */ event) => (chosen.value = event.target.value)}>
            ${FORMATS.map(one => html`<option key=${one} value=${one} selected=${one === chosen.value}>${t(`webhooks.format.${one}`)}</option>`)}
        </select>
    </label>
`;

/**
 * @param {import("../../core/html.js").Signal<Set<string>>} chosen
 * @param {string} one
 * @param {boolean} isChosen
 */
function choose(chosen, one, isChosen) {
    const next = new Set(chosen.value);
    if (isChosen) next.add(one);
    else next.delete(one);
    chosen.value = next;
}

/** @param {{chosen: import("../../core/html.js").Signal<Set<string>>, name: string, label: string}} properties */
const Tick = ({ chosen, name, label }) => html`
    <label>
        <input
            type="checkbox"
            name=${name}
            checked=${chosen.value.has(name)}
            onChange=${(/** @type {any} */ event) => choose(chosen, name, event.target.checked)}
        />
        <span dir="auto">${label}</span>
    </label>
`;

/** @param {{chosen: import("../../core/html.js").Signal<Set<string>>, error?: string}} properties */
function Types({ chosen, error }) {
    return html`
        <div>
            <div class="types grid">
                ${GROUPS.map(
                    ({ label, types }) => html`
                        <fieldset key=${label}>
                            <legend>${t(label)}</legend>
                            ${types.map(type => html`<${Tick} key=${type} chosen=${chosen} name=${type} label=${nameOfType(type)} />`)}
                        </fieldset>
                    `,
                )}
            </div>
            ${error && html`<small class="error" role="alert">${error}</small>`}
        </div>
    `;
}

/** @param {{chosen: import("../../core/html.js").Signal<Set<string>>, error?: string}} properties */
function Members({ chosen, error }) {
    const id = workspace.value?._id;
    const loaded = useLoaded(() => (id === undefined ? Promise.resolve([]) : listMembers(id)), [id]);
    return html`
        <fieldset>
            <legend>${t("webhooks.members")}</legend>
            ${loaded.failure && html`<p role="alert" class="failure">${loaded.failure}</p>`}
            ${loaded.value?.map(member => html`<${Tick} key=${member._id} chosen=${chosen} name=${member._id} label=${nameOf(member)} />`)}
            ${error && html`<small class="error" role="alert">${error}</small>`}
        </fieldset>
    `;
}

/** @param {{name: string, chosen: import("../../core/html.js").Signal<string[]>, known: Map<string, string>, error?: string}} properties */
function Links({ name, chosen, known, error }) {
    const newest = useLoaded(async () => (await listLinks({ limit: 100 }, new AbortController().signal)).urls);
    for (const { _id, shortUrl } of newest.value ?? []) known.set(withoutScheme(shortUrl), _id);
    return html`<${Chips}
        name=${name}
        label=${t("webhooks.links")}
        values=${chosen.value}
        suggestions=${newest.value?.map(({ shortUrl }) => withoutScheme(shortUrl)) ?? []}
        hint=${t("webhooks.linksHint")}
        error=${error}
        onChange=${(/** @type {string[]} */ next) => (chosen.value = next)}
    />`;
}

/** @param {{name: string, chosen: import("../../core/html.js").Signal<string[]>, error?: string}} properties */
function Domains({ name, chosen, error }) {
    const names = new Map((useLoaded(availableDomains).value ?? []).map(({ id, fullDomain }) => [id, fullDomain]));
    return html`<${Chips}
        name=${name}
        label=${t("webhooks.domains")}
        values=${chosen.value}
        suggestions=${[...names.keys()]}
        nameOf=${(/** @type {string} */ id) => names.get(id) ?? id}
        parse=${(/** @type {string} */ typed) => [...names].find(([, one]) => one === typed.toLowerCase())?.[0] ?? null}
        problem=${(/** @type {string} */ typed) => t("webhooks.noDomain", { domain: typed })}
        error=${error}
        onChange=${(/** @type {string[]} */ next) => (chosen.value = next)}
    />`;
}
