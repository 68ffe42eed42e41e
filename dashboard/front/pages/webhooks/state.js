/** How an endpoint is, in words: a badge, and the reason for what is wrong. */
import { dateAndTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { stateOf } from "./types.js";

/** @typedef {import("./endpoints.js").Webhook} Webhook */

/** @param {{webhook: Webhook}} properties */
export function WebhookState({ webhook }) {
    const state = stateOf(webhook);
    if (state === "active") return html`<span class="state" data-state="active">${t("webhooks.active")}</span>`;
    if (state === "failing") return html`<span class="state" data-state="pending"><${Icon} name="triangle-alert" />${t("webhooks.failing")}</span>`;
    const look = state === "disabled.manual" ? "disabled" : "rejected";
    return html`<span class="state" data-state=${look}><${Icon} name="pause" />${t("webhooks.disabled")}</span>`;
}

/** Nothing if all is well. @param {{webhook: Webhook}} properties */
export function Reason({ webhook }) {
    const state = stateOf(webhook);
    if (state === "active") return null;
    const moment = state === "failing" ? webhook.failingSince : webhook.disabledAt;
    const kind = state === "failing" ? "warn" : state === "disabled.manual" ? "" : "bad";
    return html`
        <p class="note ${kind}" data-reason=${state}>
            <${Icon} name=${state === "disabled.manual" ? "info" : "triangle-alert"} />
            <span>${t(`webhooks.reason.${state}`, { time: moment === null ? "" : dateAndTime(moment) })}</span>
        </p>
    `;
}
