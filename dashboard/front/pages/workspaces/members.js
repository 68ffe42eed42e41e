/** The members of a workspace and their roles. */
import { account, loadAccount } from "../../core/account.js";
import { report } from "../../core/failures.js";
import { day } from "../../core/format.js";
import { html } from "../../core/html.js";
import { nameOf } from "../../core/people.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Confirmation } from "../../parts/confirmation.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { changeRole, listMembers, removeMember } from "./endpoints.js";
import { RoleChoice, RoleList } from "./roles.js";

/** @typedef {import("./endpoints.js").Member} Member */
/** @typedef {import("./endpoints.js").Role} Role */
/** @typedef {import("./endpoints.js").Workspace} Workspace */

/** @param {{workspace: Workspace, onLeave: () => void}} properties */
export function Members({ workspace, onLeave }) {
    const loaded = useLoaded(() => listMembers(workspace._id), [workspace._id]);
    /**
     * @param {Member} member
     * @param {Role} role
     */
    const change = async (member, role) => {
        try {
            await changeRole(workspace._id, member._id, role);
            toast(t("members.changed"));
            if (member._id === account.value?._id) await loadAccount();
        } catch (error) {
            report(error);
        }
        // Also after a refusal: the list shows the role that the member has.
        await loaded.refresh();
    };
    /** @param {Member} member */
    const remove = async member => {
        await removeMember(workspace._id, member._id);
        if (member._id === account.value?._id) {
            toast(t("members.left"));
            await loadAccount();
            onLeave();
            return;
        }
        toast(t("members.removed"));
        await loaded.refresh();
    };
    return html`
        <section aria-labelledby="members">
            <h2 id="members">${t("members.title")}</h2>
            <${RoleList} />
            <${Pending} of=${loaded} />
            <ul class="cards">
                ${loaded.value?.map(
                    member => html`
                        <${Row}
                            key=${`${member._id} ${member.role}`}
                            member=${member}
                            own=${workspace.role}
                            onChange=${(/** @type {Role} */ role) => change(member, role)}
                            onRemove=${() => remove(member)}
                        />
                    `,
                )}
            </ul>
        </section>
    `;
}

/** @param {{member: Member, own: Role, onChange: (role: Role) => void, onRemove: () => Promise<void>}} properties */
function Row({ member, own, onChange, onRemove }) {
    const name = nameOf(member);
    const isOwn = member._id === account.value?._id;
    const mayChange = own === "owner" || (own === "admin" && member.role !== "owner");
    return html`
        <li data-member=${member._id}>
            <div>
                <strong dir="auto">${name}</strong>
                ${isOwn && html` <span class="state">${t("members.you")}</span>`}
                ${name !== member.email && html`<small dir="ltr">${member.email}</small>`}
                <small>${t("members.joined", { day: day(member.joinedAt) })}</small>
            </div>
            ${mayChange
                ? html`<${RoleChoice}
                      label=${t("members.roleOf", { name })}
                      value=${member.role}
                      own=${own}
                      onChoose=${onChange}
                  />`
                : html`<span>${t(`role.${member.role}`)}</span>`}
            ${isOwn &&
            html`<${Confirmation} label=${t("members.leave")} question=${t("members.leaveQuestion")} action=${onRemove} />`}
            ${!isOwn &&
            mayChange &&
            html`<${Confirmation}
                label=${t("members.remove")}
                about=${t("members.removeOne", { name })}
                question=${t("members.removeQuestion", { name })}
                action=${onRemove}
            />`}
        </li>
    `;
}
