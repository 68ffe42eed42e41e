/** The endpoints of the workspace, to which events are sent, and the form of a new one. */
import { may } from "../../core/account.js";
import { html, useSignal } from "../../core/html.js";
import { loadStyle } from "../../core/styles.js";
import { isolated, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { Secret } from "../../parts/secret.js";
import { AccountHeading } from "../account/sections.js";
import { createWebhook, listWebhooks } from "./endpoints.js";
import { WebhookForm } from "./form.js";
import { WebhookState } from "./state.js";
import { nameOfType } from "./types.js";

/** @typedef {import("./endpoints.js").Webhook} Webhook */

await loadStyle("pages/webhooks/webhooks.css");

export function Page() {
    const loaded = useLoaded(listWebhooks);
    const secret = useSignal(/** @type {string | null} */ (null));
    /** How many this page has created: each begins with an empty form. */
    const created = useSignal(0);
    /** @param {import("./endpoints.js").NewWebhook} fields @param {string} idempotencyKey */
    const create = async (fields, idempotencyKey) => {
        secret.value = (await createWebhook(fields, idempotencyKey)).secret;
        toast(t("webhooks.created", { name: isolated(fields.name) }));
        created.value++;
        await loaded.refresh();
        if (secret.value !== null) document.querySelector("output.secret")?.scrollIntoView({ block: "center" });
    };
    return html`
        <${AccountHeading} title=${t("webhooks.title")} />
        <div class="body">
            <p>${t("webhooks.text")}</p>
            <div role="status">
                ${secret.value !== null &&
                html`<p>${t("webhooks.once")}</p>
                    <div class="actions"><${Secret} value=${secret} /></div>`}
            </div>
            <${Pending} of=${loaded} />
            ${loaded.value?.length === 0 && html`<p>${t("webhooks.none")}</p>`}
            <ul class="cards">${loaded.value?.map(webhook => html`<${Row} key=${webhook._id} webhook=${webhook} />`)}</ul>
            ${may("admin") &&
            loaded.value !== null &&
            html`<section aria-labelledby="new-webhook">
                <h2 id="new-webhook">${t("webhooks.new")}</h2>
                <${WebhookForm} key=${created.value} label=${t("webhooks.create")} onSave=${create} />
            </section>`}
        </div>
    `;
}

/** @param {{webhook: Webhook}} properties */
const Row = ({ webhook }) => html`
    <li data-webhook=${webhook._id}>
        <div>
            <a href=${`/dashboard/webhooks/${webhook._id}`}><strong dir="auto">${webhook.name}</strong></a>
            <small>
                ${t(`webhooks.format.${webhook.format}`)} ·${" "}
                ${webhook.host === null ? t("webhooks.mails", { count: webhook.memberIds.length }) : html`<span class="url">${webhook.host}</span>`}
            </small>
            <small>${webhook.types.map(nameOfType).join("; ")}</small>
        </div>
        <${WebhookState} webhook=${webhook} />
    </li>
`;
