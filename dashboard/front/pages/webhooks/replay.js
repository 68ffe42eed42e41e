/** Sends the stored events of a period once more. */
import { fromLocalInput } from "../../core/format.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Input, Submit } from "../../parts/input.js";
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
            const end = fromLocalInput(to.value);
            await replay(webhook._id, { from: fromLocalInput(from.value) ?? "", ...(end !== null && { to: end }) });
            toast(t("webhooks.replayed"));
            onSent();
        });
    };
    return html`
        <form class="narrow" onSubmit=${submit}>
            <p>${t("webhooks.replayText")}</p>
            <div class="grid">
                <${Input} sending=${sending} name="from" type="datetime-local" required label=${t("webhooks.from")} value=${from} />
                <${Input} sending=${sending} name="to" type="datetime-local" label=${t("webhooks.to")} hint=${t("webhooks.toHint")} value=${to} />
            </div>
            <${Submit} sending=${sending} fields=${["from", "to"]} label=${t("webhooks.replay")} />
        </form>
    `;
}
