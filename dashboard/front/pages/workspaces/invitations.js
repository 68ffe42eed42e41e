/** The pending invitations to a workspace. A new link is shown once, because the service stores only a digest. */
import { dateAndTime } from "../../core/format.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { isolated, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Confirmation } from "../../parts/confirmation.js";
import { Input, Submit } from "../../parts/input.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { Secret } from "../../parts/secret.js";
import { Sending } from "../../parts/sending.js";
import { invite, listInvitations, withdrawInvitation } from "./endpoints.js";
import { RoleCards } from "./roles.js";

/** @typedef {import("./endpoints.js").Invitation} Invitation */
/** @typedef {import("./endpoints.js").Role} Role */
/** @typedef {import("./endpoints.js").Workspace} Workspace */

/**
 * The page to log in or sign up, and accept the invitation.
 * @param {string} token
 */
const addressOf = token => `${location.origin}/accounts/invitations/${token}/`;

/** @param {{workspace: Workspace}} properties */
export function Invitations({ workspace }) {
    const loaded = useLoaded(() => listInvitations(workspace._id), [workspace._id]);
    /** @param {Invitation} invitation */
    const withdraw = async invitation => {
        await withdrawInvitation(workspace._id, invitation._id);
        toast(t("invitations.withdrawn"));
        await loaded.refresh();
    };
    return html`
        <section aria-labelledby="invitations">
            <h2 id="invitations">${t("invitations.title")}</h2>
            <${Creation} workspace=${workspace} onInvite=${loaded.refresh} />
            <${Pending} of=${loaded} />
            ${loaded.value?.length === 0 && html`<p>${t("invitations.none")}</p>`}
            <ul class="cards">
                ${loaded.value?.map(
                    invitation => html`
                        <${Row} key=${invitation._id} invitation=${invitation} onWithdraw=${() => withdraw(invitation)} />
                    `,
                )}
            </ul>
        </section>
    `;
}

/** @param {{workspace: Workspace, onInvite: () => Promise<void>}} properties */
function Creation({ workspace, onInvite }) {
    const email = useSignal("");
    const role = useSignal(/** @type {Role} */ ("editor"));
    const link = useSignal(/** @type {string | null} */ (null));
    const mailedTo = useSignal("");
    const sending = useMemo(() => new Sending(), []);
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        return sending.run(async () => {
            const body = { role: role.value, ...(email.value === "" ? {} : { email: email.value }) };
            const { token, mailed, email: invited } = await invite(workspace._id, body);
            link.value = addressOf(token);
            mailedTo.value = mailed ? invited : "";
            email.value = "";
            await onInvite();
        });
    };
    return html`
        <form class="box invite" onSubmit=${submit}>
            <${Input}
                sending=${sending}
                name="email"
                type="email"
                maxlength="254"
                autocomplete="off"
                label=${t("invitations.email")}
                hint=${t("invitations.emailHint")}
                value=${email}
            />
            <${RoleCards} value=${role} own=${workspace.role} />
            <${Submit} sending=${sending} fields=${["email"]} label=${t("invitations.invite")} />
        </form>
        <div role="status">
            ${link.value !== null &&
            html`<p>
                    ${mailedTo.value
                        ? t("invitations.mailed", { email: isolated(mailedTo.value) })
                        : t("invitations.link")}
                </p>
                <div class="actions"><${Secret} value=${link} /></div>`}
        </div>
    `;
}

/** @param {{invitation: Invitation, onWithdraw: () => Promise<void>}} properties */
function Row({ invitation, onWithdraw }) {
    const name = invitation.email || t("invitations.anybody");
    return html`
        <li data-invitation=${invitation._id}>
            <div>
                <strong dir="auto">${name}</strong>
                <small>${t(`role.${invitation.role}`)}</small>
                <small>${t("invitations.until", { time: dateAndTime(invitation.expiresAt) })}</small>
            </div>
            <${Confirmation}
                label=${t("invitations.withdraw")}
                about=${t("invitations.withdrawOne", { name })}
                question=${t("invitations.withdrawQuestion")}
                action=${onWithdraw}
            />
        </li>
    `;
}
