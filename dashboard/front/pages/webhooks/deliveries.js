/** The messages to an endpoint, newest first, with what was sent and what was answered. */
import { messageOf, report } from "../../core/failures.js";
import { dateAndTime } from "../../core/format.js";
import { html, useEffect, useRef, useSignal } from "../../core/html.js";
import { language, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { recoveries } from "../../parts/banners.js";
import { Failed } from "../../parts/failed.js";
import { Skeleton } from "../../parts/skeleton.js";
import { listDeliveries, resend } from "./endpoints.js";
import { merged, nameOfType } from "./types.js";

/** @typedef {import("./endpoints.js").Delivery} Delivery */
/** @typedef {import("./endpoints.js").Webhook} Webhook */

const STATUSES = /** @type {const} */ (["pending", "delivered", "failed"]);
const LOOKS = { pending: "scheduled", delivered: "active", failed: "rejected" };
const READ_AGAIN_MILLISECONDS = 2_000;

/** @param {{webhook: Webhook, sent: number}} properties */
export function Deliveries({ webhook, sent }) {
    const shown = useSignal(/** @type {Delivery[] | null} */ (null));
    const cursor = useSignal(/** @type {string | null} */ (null));
    const failure = useSignal(/** @type {string | null} */ (null));
    const status = useSignal("");
    const last = useRef(0);
    /** @param {"all" | "newest" | "more"} what */
    const read = async what => {
        const own = ++last.current;
        try {
            const after = what === "more" && cursor.value !== null ? { cursor: cursor.value } : {};
            const { deliveries, pagination } = await listDeliveries(webhook._id, { ...after, status: status.value });
            if (own !== last.current) return;
            const former = shown.value ?? [];
            if (what === "more") shown.value = [...former, ...deliveries];
            else shown.value = what === "newest" ? merged(former, deliveries) : deliveries;
            if (what !== "newest") cursor.value = pagination.nextCursor;
            failure.value = null;
        } catch (error) {
            if (own === last.current) failure.value = messageOf(error);
        }
    };
    useEffect(() => {
        read("all");
    }, [webhook._id, status.value, sent, recoveries.value]);
    useEffect(() => {
        // A message that has not been tried yet is sent in a moment.
        const isAwaited = status.value === "" && shown.value?.some(one => one.status === "pending" && one.attempts === 0);
        const timer = isAwaited && !document.hidden ? setTimeout(() => read("newest"), READ_AGAIN_MILLISECONDS) : undefined;
        return () => clearTimeout(timer);
    }, [shown.value]);
    /** @param {Delivery} delivery */
    const again = async delivery => {
        try {
            await resend(webhook._id, delivery._id);
            toast(t("webhooks.resent"));
        } catch (error) {
            report(error);
        }
        await read("newest");
    };
    return html`
        <label class="narrow">
            ${t("webhooks.status")}
            <select name="status" onChange=${(/** @type {any} */ event) => (status.value = event.target.value)}>
                <option value="" selected=${status.value === ""}>${t("filters.all")}</option>
                ${STATUSES.map(one => html`<option key=${one} value=${one} selected=${one === status.value}>${t(`delivery.${one}`)}</option>`)}
            </select>
        </label>
        ${failure.value !== null && html`<${Failed} message=${failure.value} onRetry=${() => read("all")} />`}
        ${shown.value === null && failure.value === null && html`<${Skeleton} shape="cards" count=${3} />`}
        ${shown.value?.length === 0 && html`<p>${t("webhooks.noMessages")}</p>`}
        <ol class="cards deliveries" reversed>
            ${shown.value?.map(one => html`<${Row} key=${one._id} delivery=${one} isEnabled=${webhook.isEnabled} onAgain=${again} />`)}
        </ol>
        ${cursor.value !== null && html`<button type="button" onClick=${() => read("more")}>${t("history.more")}</button>`}
    `;
}

/** @param {{delivery: Delivery, isEnabled: boolean, onAgain: (delivery: Delivery) => Promise<void>}} properties */
function Row({ delivery, isEnabled, onAgain }) {
    const { status, type, events, isTest, attempts, nextAttemptAt, request } = delivery;
    const name = nameOfType(type);
    const facts = [
        dateAndTime(delivery.sentAt ?? delivery.createdAt),
        delivery.responseStatus !== null && `HTTP ${delivery.responseStatus}`,
        delivery.seconds !== null && t("webhooks.seconds", { seconds: delivery.seconds.toLocaleString(language, { maximumFractionDigits: 2 }) }),
        t("webhooks.attempts", { count: attempts }),
        nextAttemptAt !== null && attempts > 0 && t("webhooks.next", { time: dateAndTime(nextAttemptAt) }),
    ];
    return html`
        <li data-delivery=${delivery._id}>
            <div>
                <strong>${name}</strong>${events > 1 && ` ${t("webhooks.events", { count: events })}`}${isTest && ` (${t("webhooks.example")})`}
                ${" "}<span class="state" data-state=${LOOKS[status]}>${t(`delivery.${status}`)}</span>
                <small>${facts.filter(Boolean).join(" · ")}</small>
                ${delivery.error && html`<small class="error" lang="en">${delivery.error}</small>`}
            </div>
            ${isEnabled &&
            html`<button type="button" aria-label=${t("webhooks.resendOne", { type: name, time: dateAndTime(delivery.createdAt) })} onClick=${() => onAgain(delivery)}>
                ${t("webhooks.resend")}
            </button>`}
            <details>
                <summary aria-label=${t("webhooks.contentOf", { type: name, time: dateAndTime(delivery.createdAt) })}>${t("webhooks.content")}</summary>
                <p>${t("webhooks.request")}</p>
                ${request.body === null ? html`<p><small>${t("webhooks.noBody")}</small></p>` : html`<${Text} text=${request.body} />`}
                <p>${t("webhooks.response")}</p>
                ${delivery.response ? html`<${Text} text=${delivery.response} />` : html`<p><small>${t("webhooks.noResponse")}</small></p>`}
            </details>
        </li>
    `;
}

/** @param {{text: string}} properties */
const Text = ({ text }) => html`<pre class="sent" dir="auto" tabindex="0">${text}</pre>`;
