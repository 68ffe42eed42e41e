/** An address below /dashboard/ that no page has. */
import { html } from "../core/html.js";
import { t } from "../core/texts.js";
import { Head } from "../parts/head.js";
import { Icon } from "../parts/icon.js";

export const Page = () => html`
    <${Head} title=${t("page.nowhere")} />
    <div class="blank">
        <${Icon} name="search-x" />
        <p><a class="button" href="/dashboard/">${t("start.list")}</a></p>
    </div>
`;
