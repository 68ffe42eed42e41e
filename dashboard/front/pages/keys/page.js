/** The keys with scopes of the workspace. A new key is shown once: the service stores only a digest of it. */
import { may } from "../../core/account.js";
import { html, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { IdentityConfirmation } from "../../parts/confirmation.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { Secret } from "../../parts/secret.js";
import { AccountHeading } from "../account/sections.js";
import { createKey, listKeys } from "./endpoints.js";
import { KeyForm } from "./form.js";
import { Issuers } from "./issuers.js";
import { KeyRow } from "./row.js";

export function Page() {
    const pages = useSignal(1);
    const loaded = useLoaded(() => listKeys(pages.value), [pages.value]);
    // The others have a section of their own.
    const keys = loaded.value?.keys.filter(({ issuer }) => issuer === null);
    const shown = useSignal(/** @type {string | null} */ (null));
    /** @param {string} text */
    const show = text => {
        shown.value = text;
    };
    /** @param {import("./endpoints.js").KeyFields} fields */
    const create = async fields => {
        show((await createKey(fields)).apiKey);
        toast(t("apiKeys.created"));
        await loaded.refresh();
    };
    return html`
        <${AccountHeading} title=${t("apiKeys.pageTitle")} />
        <div class="body">
        <p>${t("apiKeys.text")}</p>
        ${may("admin") && html`<p><a href="/dashboard/keys/requests">${t("requests.link")}</a></p>`}
        <div role="status">
            ${shown.value !== null &&
            html`<p>${t("apiKeys.once")}</p>
                <div class="actions"><${Secret} value=${shown} /></div>`}
        </div>
        <${Pending} of=${loaded} />
        ${keys?.length === 0 && html`<p>${t("apiKeys.none")}</p>`}
        <ul class="cards">
            ${keys?.map(
                key => html`<${KeyRow} key=${key._id} value=${key} onChange=${loaded.refresh} onNewKey=${show} />`,
            )}
        </ul>
        ${loaded.value?.hasMore &&
        html`<button type="button"  onClick=${() => pages.value++}>${t("history.more")}</button>`}
        <section aria-labelledby="new-key">
            <h2 id="new-key">${t("apiKeys.new")}</h2>
            <${KeyForm} label=${t("apiKeys.createKey")} onSave=${create} />
        </section>
        ${may("admin") && html`<${Issuers} />`}
        </div>
        <${IdentityConfirmation} />
    `;
}
