/** Mails to the account about events of one link: a webhook of the format mail. */
import { account } from "../../core/account.js";
import { withoutScheme } from "../../core/hues.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Submit } from "../../parts/input.js";
import { Sending } from "../../parts/sending.js";
import { createWebhook } from "../webhooks/endpoints.js";
import { nameOfType } from "../webhooks/types.js";

const TYPES = /** @type {const} */ (["link.clicked", "link.started", "link.expired", "link.limit_reached", "link.updated", "destination.unhealthy", "destination.recovered"]);

/** @param {{link: import("../../core/endpoints.js").Url, isOpen: import("../../core/html.js").Signal<boolean>}} properties */
export function TellMe({ link, isOpen }) {
    const types = useSignal(/** @type {readonly (typeof TYPES)[number][]} */ ([]));
    const sending = useMemo(() => new Sending(), []);
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        return sending.run(async () => {
            const name = t("tellMe.name", { link: withoutScheme(link.shortUrl) }).slice(0, 100);
            const members = account.value === null ? [] : [account.value._id];
            const fields = { name, format: /** @type {const} */ ("mail"), memberIds: members, types: [...types.value], filters: { urlIds: [link._id] } };
            await createWebhook(fields, sending.idempotencyKey);
            isOpen.value = false;
            toast(t("tellMe.done"));
        });
    };
    /** @param {(typeof TYPES)[number]} type @param {boolean} isChosen */
    const choose = (type, isChosen) => {
        types.value = TYPES.filter(one => (one === type ? isChosen : types.value.includes(one)));
    };
    return html`
        <form class="stack" onSubmit=${submit}>
            <p>${t("tellMe.text")}</p>
            <fieldset>
                <legend>${t("tellMe.when")}</legend>
                ${TYPES.map(
                    type => html`
                        <label key=${type}>
                            <input
                                type="checkbox"
                                name=${type}
                                checked=${types.value.includes(type)}
                                onChange=${(/** @type {any} */ event) => choose(type, event.target.checked)}
                            />
                            ${nameOfType(type)}
                        </label>
                    `,
                )}
                ${sending.errors.value.types && html`<small class="error" role="alert">${sending.errors.value.types}</small>`}
            </fieldset>
            <p><small>${t("tellMe.hint")} <a href="/dashboard/webhooks">${t("webhooks.title")}</a></small></p>
            <div class="actions"><${Submit} sending=${sending} fields=${["types"]} label=${t("tellMe.save")} /></div>
        </form>
    `;
}
