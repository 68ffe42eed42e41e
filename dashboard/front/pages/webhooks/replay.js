/** Sends the stored events of a period once more. */
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Submit } from "../../parts/input.js";
import { MomentField } from "../../parts/moment_input.js";
import { Sending } from "../../parts/sending.js";
import { replay } from "./endpoints.js";

/** @param {{webhook: import("./endpoints.js").Webhook, onSent: () => void}} properties */
export function Replay({ webhook, onSent }) {
    const from = useSignal("");
    const to = useSignal("");
    const sending = useMemo(() => new Sending(), []);
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        return sending.run(async () => {
            await replay(webhook._id, { from: from.value, ...(to.value !== "" && { to: to.value }) });
            toast(t("webhooks.replayed"));
            onSent();
        });
    };
    return html`
        <form class="narrow" onSubmit=${submit}>
            <p>${t("webhooks.replayText")}</p>
            <${MomentField} sending=${sending} name="from" value=${from} required label=${t("webhooks.from")} zoneLabel=${t("times.zoneOfFrom")} />
            <${MomentField} sending=${sending} name="to" value=${to} label=${t("webhooks.to")} zoneLabel=${t("times.zoneOfUntil")} hint=${t("webhooks.toHint")} />
            <${Submit} sending=${sending} fields=${["from", "to"]} label=${t("webhooks.replay")} />
        </form>
    `;
}
