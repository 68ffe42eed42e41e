/** The first step of a user without links: one field, and what else can be done. */
import { may } from "../../core/account.js";
import { html } from "../../core/html.js";
import { navigate } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { Shorten } from "./shorten.js";

export const FirstLink = () => html`
    <div class="first">
        <div>
            <h2 class="big">${t("empty.first")}</h2>
            <p class="lead">${t("empty.firstText")}</p>
        </div>
        <${Shorten} draft="start" onCreated=${(/** @type {string} */ id) => navigate(`/dashboard/start?link=${id}`)} />
        <ul class="next-steps">
            ${may("admin") &&
            html`
                <${NextStep} icon="globe" text="domain" address="/dashboard/domains" />
                <${NextStep} icon="users" text="team" address="/dashboard/workspaces" />
            `}
            <${NextStep} icon="upload" text="import" address="/dashboard/import" />
        </ul>
    </div>
`;

/** @param {{icon: import("../../parts/icon.js").IconName, text: "domain" | "team" | "import", address: string}} properties */
const NextStep = ({ icon, text, address }) => html`
    <li>
        <span class="tile"><${Icon} name=${icon} /></span>
        <div><b>${t(`next.${text}`)}</b><small>${t(`next.${text}Text`)}</small></div>
        <a role="button" class="small-button" href=${address}>${t(`next.${text}Go`)}</a>
    </li>
`;
