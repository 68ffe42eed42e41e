/** One endpoint: how it is, its messages, and everything that can be done with it. */
import { html, useSignal } from "../../core/html.js";
import { navigate } from "../../core/router.js";
import { loadStyle } from "../../core/styles.js";
import { isolated, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { report } from "../../core/failures.js";
import { dateAndTime } from "../../core/format.js";
import { Confirmation } from "../../parts/confirmation.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { Secret } from "../../parts/secret.js";
import { AccountHeading } from "../account/sections.js";
import { Deliveries } from "./deliveries.js";
import { changeWebhook, deleteWebhook, readWebhook, rotateSecret, sendTest } from "./endpoints.js";
import { WebhookForm } from "./form.js";
import { Replay } from "./replay.js";
import { Reason, WebhookState } from "./state.js";

/** @typedef {import("./endpoints.js").Webhook} Webhook */

await loadStyle("pages/webhooks/webhooks.css");

/** @param {{id: string}} properties */
export function Page({ id }) {
    const loaded = useLoaded(() => readWebhook(id), [id]);
    /** How many messages this page has caused: the list is read again. */
    const sent = useSignal(0);
    const webhook = loaded.value;
    if (webhook === null) {
        return html`<${AccountHeading} title=${t("webhooks.title")} /><div class="body"><${Pending} of=${loaded} /></div>`;
    }
    return html`
        <${AccountHeading} title=${webhook.name} />
        <div class="body">
            <${Summary} webhook=${webhook} onChange=${loaded.refresh} onSent=${() => sent.value++} />
            <section aria-labelledby="messages">
                <h2 id="messages">${t("webhooks.messages")}</h2>
                <${Deliveries} webhook=${webhook} sent=${sent.value} />
            </section>
            <section aria-labelledby="settings">
                <h2 id="settings">${t("webhooks.settings")}</h2>
                <${Settings} key=${webhook._id} webhook=${webhook} onChange=${loaded.refresh} />
            </section>
            <section aria-labelledby="replay">
                <h2 id="replay">${t("webhooks.replay")}</h2>
                <${Replay} webhook=${webhook} onSent=${() => sent.value++} />
            </section>
            ${webhook.format === "standard" && html`<${Signature} webhook=${webhook} onChange=${loaded.refresh} />`}
            <section aria-labelledby="deletion">
                <h2 id="deletion">${t("webhooks.delete")}</h2>
                <${Deletion} webhook=${webhook} />
            </section>
        </div>
    `;
}

/** @param {{webhook: Webhook, onChange: () => Promise<void>, onSent: () => void}} properties */
function Summary({ webhook, onChange, onSent }) {
    const { _id: id, isEnabled } = webhook;
    const isBusy = useSignal(false);
    /** @param {() => Promise<void>} work */
    const run = async work => {
        isBusy.value = true;
        await work().catch(report);
        isBusy.value = false;
    };
    const turn = () =>
        run(async () => {
            await changeWebhook(id, { isEnabled: !isEnabled });
            toast(t(isEnabled ? "webhooks.turnedOff" : "webhooks.turnedOn"));
            await onChange();
        });
    const test = () =>
        run(async () => {
            await sendTest(id);
            onSent();
        });
    return html`
        <p>
            <a href="/dashboard/webhooks">${t("webhooks.all")}</a> · ${t(`webhooks.format.${webhook.format}`)} ·${" "}
            ${webhook.host === null ? t("webhooks.mails", { count: webhook.memberIds.length }) : html`<span class="url">${webhook.host}</span>`}
            ${" "}<${WebhookState} webhook=${webhook} />
        </p>
        <${Reason} webhook=${webhook} />
        <div class="actions">
            ${isEnabled && html`<button type="button" disabled=${isBusy.value} onClick=${test}>${t("webhooks.test")}</button>`}
            <button type="button" disabled=${isBusy.value} onClick=${turn}>${t(isEnabled ? "webhooks.turnOff" : "webhooks.turnOn")}</button>
        </div>
    `;
}

/** @param {{webhook: Webhook, onChange: () => Promise<void>}} properties */
function Settings({ webhook, onChange }) {
    /** @param {import("./endpoints.js").Changes} fields */
    const save = async fields => {
        await changeWebhook(webhook._id, fields);
        toast(t("webhooks.saved"));
        await onChange();
    };
    return html`<${WebhookForm} of=${webhook} label=${t("account.save")} onSave=${save} />`;
}

/** @param {{webhook: Webhook, onChange: () => Promise<void>}} properties */
function Signature({ webhook, onChange }) {
    const secret = useSignal(/** @type {string | null} */ (null));
    const { formerSecretUntil } = webhook;
    const rotate = async () => {
        secret.value = (await rotateSecret(webhook._id)).secret;
        await onChange();
    };
    return html`
        <section aria-labelledby="signature">
            <h2 id="signature">${t("webhooks.secret")}</h2>
            <p>${t("webhooks.secretText")}</p>
            ${formerSecretUntil !== null &&
            Date.parse(formerSecretUntil) > Date.now() &&
            html`<p>${t("webhooks.formerUntil", { time: dateAndTime(formerSecretUntil) })}</p>`}
            <div role="status">
                ${secret.value !== null &&
                html`<p>${t("webhooks.once")}</p>
                    <div class="actions"><${Secret} value=${secret} /></div>`}
            </div>
            <${Confirmation} label=${t("webhooks.rotate")} question=${t("webhooks.rotateQuestion")} action=${rotate} />
        </section>
    `;
}

/** @param {{webhook: Webhook}} properties */
function Deletion({ webhook: { _id: id, name } }) {
    const remove = async () => {
        await deleteWebhook(id);
        toast(t("webhooks.deleted", { name: isolated(name) }));
        navigate("/dashboard/webhooks");
    };
    return html`<${Confirmation} label=${t("webhooks.delete")} question=${t("webhooks.deleteQuestion", { name: isolated(name) })} action=${remove} />`;
}
