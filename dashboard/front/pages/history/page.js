/** The history of the workspace: who changed what. */
import { html } from "../../core/html.js";
import { navigate, query } from "../../core/router.js";
import { t, textOr } from "../../core/texts.js";
import { AccountHeading } from "../account/sections.js";
import { Changes } from "./changes.js";
import { listChanges } from "./endpoints.js";

const ACTIONS = [
    "link.updated",
    "link.deleted",
    "link.undeleted",
    "link.visits_erased",
    "link.banned",
    "link.unbanned",
    "domain.created",
    "domain.updated",
    "domain.deleted",
    "member.added",
    "member.updated",
    "member.removed",
    "invitation.created",
    "invitation.accepted",
    "invitation.withdrawn",
    "workspace.created",
    "workspace.updated",
    "tag.renamed",
    "tag.merged",
    "tag.deleted",
    "tag.restored",
    "tag.updated",
    "utm_template.created",
    "utm_template.updated",
    "utm_template.deleted",
    "webhook.created",
    "webhook.updated",
    "webhook.secret_rotated",
    "webhook.deleted",
    "key.created",
    "key.replaced",
    "account.updated",
    "session.ended",
];

export function Page() {
    const action = query.value.get("action") ?? "";
    /** @param {string} chosen */
    const choose = chosen => {
        navigate(`/dashboard/history${chosen === "" ? "" : `?action=${encodeURIComponent(chosen)}`}`, { replace: true });
    };
    return html`
        <${AccountHeading} title=${t("history.title")} />
        <div class="body">
        <p>${t("history.text")}</p>
        <label class="narrow">
            ${t("history.action")}
            <select name="action" onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
                <option value="" selected=${action === ""}>${t("filters.all")}</option>
                ${ACTIONS.map(
                    name => html`
                        <option key=${name} value=${name} selected=${name === action}>${textOr(`action.${name}`, name)}</option>
                    `,
                )}
            </select>
        </label>
        <${Changes}
            filters=${action}
            load=${(/** @type {{cursor?: string}} */ page) =>
                listChanges({ ...page, ...(action === "" ? {} : { action }) })}
        />
        </div>
    `;
}
