/** The first step of a user without links: one field, and what else can be done. */
import { may } from "../../core/account.js";
import { withScheme } from "../../core/addresses.js";
import { useDraft } from "../../core/drafts.js";
import { createLink } from "../../core/endpoints.js";
import { html, useMemo } from "../../core/html.js";
import { navigate } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
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
            const { url } = await createLink({ originalUrl: withScheme(address.value) }, sending.idempotencyKey);
            address.value = "";
            navigate(`/dashboard/start?link=${url._id}`);
        });
    };
    return html`
        <div class="first">
            <div>
                <h2 class="big">${t("empty.first")}</h2>
                <p class="lead">${t("empty.firstText")}</p>
            </div>
            <form class="one-field" onSubmit=${submit}>
                <label>
                    ${t("field.originalUrl")}
                    <input
                        name="originalUrl"
                        inputmode="url"
                        required
                        dir="ltr"
                        autocomplete="off"
                        spellcheck=${false}
                        placeholder="example.com/a-long-page"
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
                <small><a href="/dashboard/new">${t("start.more")}</a></small>
            </form>
            <ul class="next-steps">
                ${may("admin") && html`<${NextStep} icon="globe" text="domain" address="/dashboard/domains" />`}
                <${NextStep} icon="users" text="team" address="/dashboard/workspaces" />
                <${NextStep} icon="upload" text="import" address="/dashboard/import" />
            </ul>
        </div>
    `;
}

/** @param {{icon: import("../../parts/icon.js").IconName, text: "domain" | "team" | "import", address: string}} properties */
const NextStep = ({ icon, text, address }) => html`
    <li>
        <span class="tile"><${Icon} name=${icon} /></span>
        <div><b>${t(`next.${text}`)}</b><small>${t(`next.${text}Text`)}</small></div>
        <a role="button" class="small-button" href=${address}>${t(`next.${text}Go`)}</a>
    </li>
`;
