/** Dialogs that ask for confirmation: of an action that cannot be undone, or of who the user is. */
import { html, useMemo, useSignal } from "../core/html.js";
import { confirmationAddress, needsConfirmation } from "../core/session.js";
import { t } from "../core/texts.js";
import { Dialog } from "./dialog.js";
import { Sending } from "./sending.js";

/**
 * A button for an action that cannot be undone. A dialog explains the action.
 * @param {object} properties
 * @param {string} properties.label of the button
 * @param {string} [properties.about] the label for screen readers, if several buttons have the same
 * @param {string} properties.question
 * @param {() => Promise<void>} properties.action a failure of it is shown in the dialog
 * @param {import("../core/html.js").Children} [properties.children] more to decide
 */
export function Confirmation({ label, about, question, action, children }) {
    const isOpen = useSignal(false);
    const sending = useMemo(() => new Sending(), []);
    const open = () => {
        sending.errors.value = {};
        isOpen.value = true;
    };
    const confirm = async () => {
        if (await sending.run(action)) isOpen.value = false;
    };
    const messages = Object.values(sending.errors.value);
    return html`
        <button type="button"  aria-label=${about} onClick=${open}>${label}</button>
        <${Dialog} isOpen=${isOpen} title=${about ?? label}>
            <p>${question}</p>
            ${children}
            ${messages.map(message => html`<p role="alert" class="failure">${message}</p>`)}
            <div class="actions">
                <button class="danger" disabled=${sending.isBusy.value} onClick=${confirm}>${label}</button>
                <button onClick=${() => (isOpen.value = false)}>${t("confirmation.cancel")}</button>
            </div>
        <//>
    `;
}

/** A call about keys was refused, because the login was some time ago. The page keeps its input in a draft. */
export const IdentityConfirmation = () => html`
    <${Dialog} isOpen=${needsConfirmation} title=${t("identity.title")}>
        <p>${t("identity.text")}</p>
        <div class="actions">
            <a role="button" href=${confirmationAddress()}>${t("identity.confirm")}</a>
            <button onClick=${() => (needsConfirmation.value = false)}>${t("confirmation.cancel")}</button>
        </div>
    <//>
`;
