/** One field that makes a short link. */
import { withScheme } from "../../core/addresses.js";
import { useDraft } from "../../core/drafts.js";
import { createLink } from "../../core/endpoints.js";
import { html, useMemo } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Sending } from "../../parts/sending.js";

/**
 * @param {object} properties
 * @param {string} properties.draft the name under which the tab keeps the input
 * @param {(id: string) => void} properties.onCreated
 * @param {boolean} [properties.isBrief] without a visible label
 */
export function Shorten({ draft, onCreated, isBrief = false }) {
    const address = useDraft(draft);
    const sending = useMemo(() => new Sending(), []);
    const { originalUrl, "": other } = sending.errors.value;
    const problem = originalUrl ?? other;
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        sending.run(async () => {
            const { url } = await createLink({ originalUrl: withScheme(address.value) }, sending.idempotencyKey);
            address.value = "";
            onCreated(url._id);
        });
    };
    return html`
        <form class="one-field" onSubmit=${submit}>
            <label>
                <span class=${isBrief ? "visually-hidden" : undefined}>${t("field.originalUrl")}</span>
                <input
                    name="originalUrl"
                    inputmode="url"
                    required
                    dir="ltr"
                    autocomplete="off"
                    spellcheck=${false}
                    placeholder=${isBrief ? t("overview.paste") : "example.com/a-long-page"}
                    value=${address.value}
                    aria-invalid=${problem ? "true" : undefined}
                    aria-describedby=${problem ? "first-about" : undefined}
                    onInput=${(/** @type {any} */ event) => (address.value = event.target.value)}
                />
            </label>
            <button type="submit" class="primary" aria-busy=${sending.isBusy.value} disabled=${sending.isBusy.value}>
                ${t("start.create")}
            </button>
            ${problem && html`<small id="first-about" class="error" role="alert">${problem}</small>`}
            ${!isBrief && html`<small><a href="/dashboard/new">${t("start.more")}</a></small>`}
        </form>
    `;
}
