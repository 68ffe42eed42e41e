/** The name of the account, and links to the pages that require the password for changes. */
import { account, accountFailure, reloadAccount, rename } from "../../core/account.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Input, Submit } from "../../parts/input.js";
import { Pending } from "../../parts/loaded.js";
import { Sending } from "../../parts/sending.js";

export function Profile() {
    const user = account.value;
    if (user === null) return html`<${Pending} of=${{ value: null, failure: accountFailure.value, refresh: reloadAccount }} shape="inputs" count=${2} />`;
    return html`<${Names} key=${user._id} user=${user} />`;
}

/** @param {{user: import("../../core/account.js").Account}} properties */
function Names({ user }) {
    const firstName = useSignal(user.firstName);
    const lastName = useSignal(user.lastName);
    const sending = useMemo(() => new Sending(), []);
    /** @param {SubmitEvent} event */
    const submit = async event => {
        event.preventDefault();
        const names = { firstName: firstName.value, lastName: lastName.value };
        if (await sending.run(() => rename(names))) toast(t("account.saved"));
    };
    const shared = { sending, maxlength: "100", dir: "auto" };
    return html`
        <section aria-labelledby="profile">
            <h2 id="profile">${t("account.profile")}</h2>
            <p>${t("account.email", { email: user.email })}</p>
            <form class="narrow" onSubmit=${submit}>
                <div class="grid">
                    <${Input}
                        ...${shared}
                        name="firstName"
                        label=${t("account.firstName")}
                        value=${firstName}
                        autocomplete="given-name"
                    />
                    <${Input}
                        ...${shared}
                        name="lastName"
                        label=${t("account.lastName")}
                        value=${lastName}
                        autocomplete="family-name"
                    />
                </div>
                <${Submit} sending=${sending} fields=${["firstName", "lastName"]} label=${t("account.save")} />
            </form>
        </section>
    `;
}

export function Credentials() {
    const user = account.value;
    return html`
        <section aria-labelledby="credentials">
            <h2 id="credentials">${t("account.credentials")}</h2>
            ${user !== null && html`<p>${t(user.hasTwoFactors ? "account.twoFactors" : "account.oneFactor")}</p>`}
            <ul>
                <li><a href="/accounts/password/change/">${t("account.changePassword")}</a></li>
                <li><a href="/accounts/2fa/">${t("account.secondFactor")}</a></li>
                <li><a href="/accounts/2fa/webauthn/">${t("account.passkeys")}</a></li>
            </ul>
        </section>
    `;
}
