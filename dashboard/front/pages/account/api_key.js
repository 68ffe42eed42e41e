/** The account's API key. The page shows it only on request, and does not store it. */
import { report } from "../../core/failures.js";
import { html, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Confirmation } from "../../parts/confirmation.js";
import { Secret } from "../../parts/secret.js";
import { readApiKey, replaceApiKey } from "./endpoints.js";

export function ApiKey() {
    const key = useSignal(/** @type {string | null} */ (null));
    const show = async () => {
        try {
            key.value = await readApiKey();
            if (key.value === null) toast(t("apiKey.unreadable"), { kind: "failed" });
        } catch (error) {
            report(error);
        }
    };
    const replace = async () => {
        key.value = await replaceApiKey();
        toast(t("apiKey.replaced"));
    };
    return html`
        <section aria-labelledby="api-key">
            <h2 id="api-key">${t("apiKey.title")}</h2>
            <p>${t("apiKey.text")}</p>
            <div class="actions">
                ${key.value === null && html`<button type="button"  onClick=${show}>${t("apiKey.show")}</button>`}
                <${Secret} value=${key} />
                <${Confirmation} label=${t("apiKey.replace")} question=${t("apiKey.question")} action=${replace} />
            </div>
        </section>
    `;
}
