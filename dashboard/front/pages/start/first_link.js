/** The first step of a user without links: one field. */
import { useDraft } from "../../core/drafts.js";
import { createLink } from "../../core/endpoints.js";
import { html, useMemo } from "../../core/html.js";
import { navigate } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { Sending } from "../../parts/sending.js";

export function FirstLink() {
    const address = useDraft("start");
    const sending = useMemo(() => new Sending(), []);
    const { originalUrl, "": other } = sending.errors.value;
    const problem = originalUrl ?? other;
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        sending.run(async () => {
            const { url } = await createLink({ originalUrl: address.value.trim() }, sending.idempotencyKey);
            address.value = "";
            navigate(`/dashboard/start?link=${url._id}`);
        });
    };
    return html`
        <article>
            <h2>${t("empty.first")}</h2>
            <p>${t("empty.firstText")}</p>
            <form class="one-field" onSubmit=${submit}>
                <label>
                    ${t("field.originalUrl")}
                    <input
                        name="originalUrl"
                        type="url"
                        inputmode="url"
                        required
                        dir="ltr"
                        placeholder="https://"
                        value=${address.value}
                        aria-invalid=${problem ? "true" : undefined}
                        aria-describedby=${problem ? "first-about" : undefined}
                        onInput=${(/** @type {any} */ event) => (address.value = event.target.value)}
                    />
                </label>
                <button type="submit" aria-busy=${sending.isBusy.value} disabled=${sending.isBusy.value}>
                    ${t("start.create")}
                </button>
                ${problem && html`<small id="first-about" class="error" role="alert">${problem}</small>`}
            </form>
            <p>
                <a href="/dashboard/new">${t("start.more")}</a> · <a href="/dashboard/import">${t("start.import")}</a>
            </p>
        </article>
    `;
}
