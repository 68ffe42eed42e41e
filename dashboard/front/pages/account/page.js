/** The account that is signed in. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { IdentityConfirmation } from "../../parts/confirmation.js";
import { ApiKey } from "./api_key.js";
import { Credentials, Profile } from "./profile.js";
import { ReportMails } from "./report_mails.js";
import { AccountHeading } from "./sections.js";
import { Sessions } from "./sessions.js";

export const Page = () => html`
    <${AccountHeading} title=${t("account.title")} />
    <div class="body">
        <${Profile} />
        <${Credentials} />
        <${ReportMails} />
        <${ApiKey} />
        <${Sessions} />
    </div>
    <${IdentityConfirmation} />
`;
