/** The form that adds a domain. The input is kept until the service has accepted it. */
import { hostIn } from "../../core/addresses.js";
import { useDraft } from "../../core/drafts.js";
import { html, useMemo } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { About } from "../../parts/about.js";
import { Sending } from "../../parts/sending.js";
import { addDomain } from "./endpoints.js";
import { added, load } from "./state.js";

export function Adding() {
    const name = useDraft("domain");
    const sending = useMemo(() => new Sending(), []);
    const isSaving = sending.isBusy.value;
    const { domain, "": other } = sending.errors.value;
    const problem = domain ?? other;
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        sending.run(async () => {
            const created = await addDomain(hostIn(name.value), sending.idempotencyKey);
            name.value = "";
            added.value = created._id;
            await load();
        });
    };
    return html`
        <form class="one-field" onSubmit=${submit}>
            <label>
                ${t("domains.name")}
                <input
                    name="domain"
                    required
                    maxlength="253"
                    autocomplete="off"
                    autocapitalize="none"
                    spellcheck=${false}
                    dir="ltr"
                    placeholder="go.example.com"
                    value=${name.value}
                    aria-invalid=${problem ? "true" : undefined}
                    aria-describedby="domain-about"
                    onInput=${(/** @type {any} */ event) => (name.value = event.target.value)}
                />
            </label>
            <button type="submit" class="primary" aria-busy=${isSaving} disabled=${isSaving}>${t("domains.add")}</button>
            <${About} id="domain-about" error=${problem} hint=${t("domains.nameHint")} />
        </form>
    `;
}
