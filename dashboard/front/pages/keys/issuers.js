/** Issuers whose tokens act as a key of the workspace, so that programs need not store one. */
import { workspace } from "../../core/account.js";
import { dropDraft, keepDraft, readDraft } from "../../core/drafts.js";
import { dateAndTime } from "../../core/format.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Confirmation } from "../../parts/confirmation.js";
import { Input, Submit } from "../../parts/input.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { Sending } from "../../parts/sending.js";
import { createIssuer, deleteIssuer, listIssuers } from "./endpoints.js";
import { nameOfScope, orderedScopes, Scopes } from "./form.js";

/** @typedef {import("./endpoints.js").Scope} Scope */

const DRAFT = "issuer";
const KNOWN_ISSUERS = ["https://token.actions.githubusercontent.com", "https://gitlab.com"];
/** The messages about the entered keys name a part of them. */
const OF_KEYS = "jwks";

export function Issuers() {
    const pages = useSignal(1);
    const loaded = useLoaded(() => listIssuers(pages.value), [pages.value]);
    const isAdding = useSignal(readDraft(DRAFT) !== null);
    const id = workspace.value?._id;
    return html`
        <section aria-labelledby="issuers">
            <h2 id="issuers">${t("issuers.title")}</h2>
            <p>${t("issuers.text")}</p>
            ${id !== undefined && html`<p><code dir="ltr">X-Workspace: ${id}</code></p>`}
            <${Pending} of=${loaded} count=${1} />
            ${loaded.value?.issuers.length === 0 && html`<p>${t("issuers.none")}</p>`}
            <ul class="cards">
                ${loaded.value?.issuers.map(issuer => html`<${Issuer} key=${issuer._id} value=${issuer} onChange=${loaded.refresh} />`)}
            </ul>
            ${loaded.value?.hasMore && html`<button type="button" onClick=${() => pages.value++}>${t("history.more")}</button>`}
            <button type="button" aria-expanded=${isAdding.value ? "true" : "false"} onClick=${() => (isAdding.value = !isAdding.value)}>
                ${t("issuers.add")}
            </button>
            ${isAdding.value &&
            html`<${IssuerForm}
                onAdded=${async () => {
                    isAdding.value = false;
                    toast(t("issuers.added"));
                    await loaded.refresh();
                }}
            />`}
        </section>
    `;
}

/** @param {{value: import("./endpoints.js").Issuer, onChange: () => Promise<void>}} properties */
function Issuer({ value: issuer, onChange }) {
    const { _id: id, name, lastUsedAt, expiresAt } = issuer;
    const isExpired = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
    const remove = async () => {
        await deleteIssuer(id);
        toast(t("issuers.deleted"));
        await onChange();
    };
    return html`
        <li data-issuer=${id}>
            <div>
                <strong dir="auto">${name}</strong>
                ${isExpired && html` <span class="state" data-state="expired">${t("status.expired")}</span>`}
                <small dir="ltr">${issuer.subject}</small>
                <small dir="ltr">${issuer.issuer} → ${issuer.audience}</small>
                <small>${issuer.scopes.map(nameOfScope).join("; ")}</small>
                <small>${lastUsedAt === null ? t("apiKeys.unused") : t("apiKeys.used", { time: dateAndTime(lastUsedAt) })}</small>
            </div>
            <${Confirmation}
                label=${t("apiKeys.delete")}
                about=${t("issuers.deleteOne", { name })}
                question=${t("issuers.deleteQuestion", { name })}
                action=${remove}
            />
        </li>
    `;
}

/** @param {{onAdded: () => Promise<void>}} properties */
function IssuerForm({ onAdded }) {
    const initial = useMemo(() => readDraft(DRAFT), []);
    const name = useSignal(initial?.name ?? "");
    const issuer = useSignal(initial?.issuer ?? KNOWN_ISSUERS[0]);
    const audience = useSignal(initial?.audience ?? location.origin);
    const subject = useSignal(initial?.subject ?? "");
    const jwks = useSignal(initial?.jwks ?? "");
    const scopes = useSignal(new Set(/** @type {Scope[]} */ (initial?.scopes ?? ["urls:read", "urls:write"])));
    const sending = useMemo(() => new Sending(), []);
    const isWorkspaces = workspace.value?.isPersonal === false;
    const errorOfKeys = Object.entries(sending.errors.value).find(([field]) => field.startsWith(OF_KEYS))?.[1];
    /** @param {SubmitEvent} event */
    const submit = async event => {
        event.preventDefault();
        const fields = {
            name: name.value,
            issuer: issuer.value,
            audience: audience.value,
            subject: subject.value,
            scopes: orderedScopes(scopes.value, isWorkspaces),
        };
        const keys = parsed(jwks.value);
        if (keys === undefined) {
            sending.errors.value = { [OF_KEYS]: t("issuers.noJson") };
            return;
        }
        // The user may have to leave the page, to confirm who they are.
        keepDraft(DRAFT, { ...fields, jwks: jwks.value });
        if (!(await sending.run(() => createIssuer({ ...fields, jwks: keys })))) return;
        dropDraft(DRAFT);
        await onAdded();
    };
    return html`
        <form class="narrow" onSubmit=${submit}>
            <${Input} sending=${sending} name="name" label=${t("issuers.name")} value=${name} required maxlength="100" dir="auto" />
            <${Input} sending=${sending} name="issuer" label=${t("issuers.issuer")} value=${issuer} required maxlength="500" dir="ltr" list="known-issuers" />
            <datalist id="known-issuers">${KNOWN_ISSUERS.map(url => html`<option key=${url} value=${url} />`)}</datalist>
            <${Input} sending=${sending} name="subject" label=${t("issuers.subject")} hint=${t("issuers.subjectHint")} value=${subject} required maxlength="500" dir="ltr" />
            <${Input} sending=${sending} name="audience" label=${t("issuers.audience")} hint=${t("issuers.audienceHint")} value=${audience} required maxlength="500" dir="ltr" />
            <${Scopes} chosen=${scopes} isWorkspaces=${isWorkspaces} error=${sending.errors.value.scopes} />
            <details open=${jwks.value !== ""}>
                <summary>${t("issuers.unreachable")}</summary>
                <label>
                    ${t("issuers.jwks")}
                    <textarea
                        name="jwks"
                        rows="5"
                        dir="ltr"
                        spellcheck=${false}
                        placeholder=${'{"keys": […]}'}
                        value=${jwks.value}
                        aria-invalid=${errorOfKeys === undefined ? undefined : "true"}
                        aria-describedby="jwks-about"
                        onInput=${(/** @type {any} */ event) => (jwks.value = event.target.value)}
                    ></textarea>
                </label>
                <small id="jwks-about" class=${errorOfKeys ? "error" : undefined} role=${errorOfKeys ? "alert" : undefined}>
                    ${errorOfKeys ?? t("issuers.jwksHint")}
                </small>
            </details>
            <${Submit}
                sending=${sending}
                fields=${["name", "issuer", "subject", "audience", "scopes", ...Object.keys(sending.errors.value).filter(field => field.startsWith(OF_KEYS))]}
                label=${t("issuers.save")}
            />
        </form>
    `;
}

/**
 * The entered set of keys, null for none, and undefined for a text that is no JSON.
 * @param {string} text
 */
function parsed(text) {
    if (text.trim() === "") return null;
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}
