/** The form of a new key, and of the limits of an existing one. */
import { may, workspace } from "../../core/account.js";
import { dropDraft, keepDraft, readDraft } from "../../core/drafts.js";
import { availableDomains } from "../../core/endpoints.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { t, textOr } from "../../core/texts.js";
import { Input, Submit } from "../../parts/input.js";
import { MomentField } from "../../parts/moment_input.js";
import { useLoaded } from "../../parts/loaded.js";
import { Sending } from "../../parts/sending.js";

/** @typedef {import("./endpoints.js").Key} Key */
/** @typedef {import("./endpoints.js").KeyFields} KeyFields */
/** @typedef {import("./endpoints.js").Scope} Scope */
/** @typedef {import("../../core/account.js").Role} Role */

/** With the role that they need. @type {[Scope, Role][]} */
const ROLES_OF_SCOPES = [
    ["urls:read", "viewer"],
    ["urls:write", "editor"],
    ["analytics:read", "viewer"],
    ["domains:read", "viewer"],
    ["domains:write", "admin"],
    ["qr:write", "editor"],
    ["members:read", "viewer"],
    ["members:write", "admin"],
    ["webhooks:write", "admin"],
    ["urls:move", "editor"],
];
/** @param {Scope} scope */
export const nameOfScope = scope => textOr(`scope.${scope.replace(":", ".")}`, scope);

/** They act in the name of a member. @type {Scope[]} */
const SCOPES_OF_MEMBERS = ["members:write", "urls:move"];

/**
 * The chosen scopes that such a key can have, in the order of the list.
 * @param {Set<Scope>} chosen
 * @param {boolean} isWorkspaces
 */
export const orderedScopes = (chosen, isWorkspaces) =>
    ROLES_OF_SCOPES.map(([scope]) => scope).filter(
        scope => chosen.has(scope) && !(isWorkspaces && SCOPES_OF_MEMBERS.includes(scope)),
    );

/** The draft of a new key. */
const DRAFT = "key";
/** The default domain, with which every key works. */
const BASE = "base";

/**
 * @param {object} properties
 * @param {Key} [properties.of] without it, a new key
 * @param {string} properties.label of the button
 * @param {(fields: KeyFields) => Promise<void>} properties.onSave
 */
export function KeyForm({ of: key, label, onSave }) {
    /** @type {Key | KeyFields | null} */
    const initial = useMemo(() => key ?? readDraft(DRAFT), []);
    const name = useSignal(initial?.name ?? "");
    const scopes = useSignal(new Set(/** @type {Scope[]} */ (initial?.scopes ?? ["urls:read"])));
    const domainId = useSignal(initial?.domainId ?? "");
    const onlyOwn = useSignal(initial?.onlyOwn ?? false);
    const expiresAt = useSignal(initial?.expiresAt ?? "");
    const isWorkspaces = useSignal(initial?.belongsTo === "workspace");
    const mayChooseOwner = key === undefined && may("admin") && workspace.value?.isPersonal === false;
    const sending = useMemo(() => new Sending(), []);
    const domains = useLoaded(availableDomains).value?.filter(({ id }) => id !== BASE) ?? [];
    /** @param {SubmitEvent} event */
    const submit = async event => {
        event.preventDefault();
        const fields = {
            name: name.value,
            scopes: orderedScopes(scopes.value, isWorkspaces.value),
            ...(mayChooseOwner && isWorkspaces.value ? { belongsTo: /** @type {const} */ ("workspace") } : {}),
            domainId: domainId.value || null,
            onlyOwn: onlyOwn.value,
            expiresAt: expiresAt.value || null,
        };
        // The user may have to leave the page, to confirm who they are.
        if (key === undefined) keepDraft(DRAFT, fields);
        const isSaved = await sending.run(() => onSave(fields));
        if (!isSaved || key !== undefined) return;
        dropDraft(DRAFT);
        name.value = "";
    };
    return html`
        <form class="narrow" onSubmit=${submit}>
            <${Input} sending=${sending} name="name" label=${t("apiKeys.name")} value=${name} required maxlength="100" dir="auto" />
            ${mayChooseOwner &&
            html`<label>
                <input
                    type="checkbox"
                    name="belongsTo"
                    checked=${isWorkspaces.value}
                    onChange=${(/** @type {any} */ event) => (isWorkspaces.value = event.target.checked)}
                />
                ${t("apiKeys.ofWorkspace")}
            </label>`}
            <${Scopes} chosen=${scopes} isWorkspaces=${isWorkspaces.value} error=${sending.errors.value.scopes} />
            <label>
                ${t("apiKeys.domain")}
                <select name="domainId" onChange=${(/** @type {any} */ event) => (domainId.value = event.target.value)}>
                    <option value="" selected=${domainId.value === ""}>${t("apiKeys.anyDomain")}</option>
                    ${domains.map(
                        ({ id, fullDomain }) =>
                            html`<option key=${id} value=${id} selected=${id === domainId.value}>${fullDomain}</option>`,
                    )}
                </select>
            </label>
            <label>
                <input
                    type="checkbox"
                    name="onlyOwn"
                    checked=${onlyOwn.value}
                    onChange=${(/** @type {any} */ event) => (onlyOwn.value = event.target.checked)}
                />
                ${t("apiKeys.onlyOwn")}
            </label>
            <${MomentField} sending=${sending} name="expiresAt" label=${t("apiKeys.expiresAt")} zoneLabel=${t("times.zoneOfExpiry")} hint=${t("apiKeys.expiryHint")} value=${expiresAt} />
            <${Submit} sending=${sending} fields=${["name", "scopes", "expiresAt"]} label=${label} />
        </form>
    `;
}

/** @param {{chosen: import("../../core/html.js").Signal<Set<Scope>>, isWorkspaces: boolean, error?: string}} properties */
export function Scopes({ chosen, isWorkspaces, error }) {
    /**
     * @param {Scope} scope
     * @param {boolean} isChosen
     */
    const choose = (scope, isChosen) => {
        const next = new Set(chosen.value);
        if (isChosen) next.add(scope);
        else next.delete(scope);
        chosen.value = next;
    };
    // A key has at most the role of its creator. An edited one may have a scope from a time with another role.
    const offered = ROLES_OF_SCOPES.filter(([scope, role]) => may(role) || chosen.value.has(scope))
        .map(([scope]) => scope)
        .filter(scope => !(isWorkspaces && SCOPES_OF_MEMBERS.includes(scope)));
    return html`
        <fieldset class="scopes">
            <legend>${t("apiKeys.scopes")}</legend>
            ${offered.map(
                scope => html`
                    <label key=${scope}>
                        <input
                            type="checkbox"
                            name=${scope}
                            checked=${chosen.value.has(scope)}
                            onChange=${(/** @type {any} */ event) => choose(scope, event.target.checked)}
                        />
                        ${nameOfScope(scope)} <small dir="ltr">${scope}</small>
                    </label>
                `,
            )}
            ${error && html`<small class="error" role="alert">${error}</small>`}
        </fieldset>
    `;
}
