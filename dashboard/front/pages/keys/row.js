/** One key with its scopes and limits, and the actions on it. */
import { account, may } from "../../core/account.js";
import { dateAndTime } from "../../core/format.js";
import { html, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Confirmation } from "../../parts/confirmation.js";
import { deleteKey, rotateKey, updateKey } from "./endpoints.js";
import { KeyForm, nameOfScope } from "./form.js";

/** @typedef {import("./endpoints.js").Key} Key */

const GRACES = /** @type {const} */ ([
    [0, "apiKeys.graceNone"],
    [3_600, "apiKeys.graceHour"],
    [86_400, "apiKeys.graceDay"],
    [604_800, "apiKeys.graceWeek"],
]);

/** @param {{value: Key, onChange: () => Promise<void>, onNewKey: (text: string) => void}} properties */
export function KeyRow({ value: key, onChange, onNewKey }) {
    const isEdited = useSignal(false);
    const grace = useSignal(0);
    const isOwn = key.creator === null ? may("admin") : key.creator._id === account.value?._id;
    const { _id: id, name } = key;
    const remove = async () => {
        await deleteKey(id);
        toast(t("apiKeys.deleted"));
        await onChange();
    };
    const rotate = async () => {
        onNewKey((await rotateKey(id, grace.value)).apiKey);
        toast(t("apiKeys.rotated"));
        await onChange();
    };
    /** @param {import("./endpoints.js").KeyFields} fields */
    const update = async fields => {
        await updateKey(id, fields);
        isEdited.value = false;
        toast(t("apiKeys.saved"));
        await onChange();
    };
    return html`
        <li data-key=${id}>
            <${Description} value=${key} isOwn=${isOwn} />
            ${isOwn &&
            html`<button
                    type="button"
                    
                    aria-label=${t("apiKeys.editOne", { name })}
                    aria-expanded=${isEdited.value ? "true" : "false"}
                    onClick=${() => (isEdited.value = !isEdited.value)}
                >
                    ${t("apiKeys.edit")}
                </button>
                <${Confirmation}
                    label=${t("apiKeys.rotate")}
                    about=${t("apiKeys.rotateOne", { name })}
                    question=${t("apiKeys.rotateQuestion")}
                    action=${rotate}
                >
                    <${Grace} seconds=${grace} />
                <//>`}
            <${Confirmation}
                label=${t("apiKeys.delete")}
                about=${t("apiKeys.deleteOne", { name })}
                question=${t("apiKeys.deleteQuestion", { name })}
                action=${remove}
            />
            ${isEdited.value && html`<${KeyForm} of=${key} label=${t("account.save")} onSave=${update} />`}
        </li>
    `;
}

/** @param {{value: Key, isOwn: boolean}} properties */
function Description({ value: key, isOwn }) {
    const { expiresAt, lastUsedAt, graceUntil, creator } = key;
    const isExpired = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
    return html`
        <div>
            <strong dir="auto">${key.name}</strong>
            ${isExpired && html` <span class="state" data-state="expired">${t("status.expired")}</span>`}
            <small>${key.scopes.map(nameOfScope).join("; ")}</small>
            ${(key.onlyOwn || key.domainId !== null) && html`<small>${t("apiKeys.limited")}</small>`}
            <small>
                ${lastUsedAt === null ? t("apiKeys.unused") : t("apiKeys.used", { time: dateAndTime(lastUsedAt) })}
                ${expiresAt !== null && !isExpired && html` · ${t("apiKeys.until", { time: dateAndTime(expiresAt) })}`}
                ${graceUntil !== null &&
                Date.parse(graceUntil) > Date.now() &&
                html` · ${t("apiKeys.formerUntil", { time: dateAndTime(graceUntil) })}`}
            </small>
            ${creator === null && html`<small>${t("apiKeys.belongsToWorkspace")}</small>`}
            ${creator !== null && !isOwn && html`<small dir="auto">${t("apiKeys.creator", { email: creator.email })}</small>`}
        </div>
    `;
}

/** @param {{seconds: import("../../core/html.js").Signal<number>}} properties */
const Grace = ({ seconds }) => html`
    <label>
        ${t("apiKeys.grace")}
        <select name="graceSeconds" onChange=${(/** @type {any} */ event) => (seconds.value = Number(event.target.value))}>
            ${GRACES.map(
                ([value, text]) => html`<option key=${value} value=${value} selected=${value === seconds.value}>${t(text)}</option>`,
            )}
        </select>
    </label>
`;
