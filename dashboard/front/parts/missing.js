/** In the place of a page about a link: the link does not exist, or could not be loaded. */
import { html } from "../core/html.js";
import { t } from "../core/texts.js";
import { Icon } from "./icon.js";

/**
 * @param {object} properties
 * @param {boolean} properties.isGone
 * @param {string | null} properties.message of the failure. Null: a banner says more.
 * @param {string} [properties.history] the id of the link
 * @param {() => void} properties.onRetry
 */
export const Missing = ({ isGone, message, history, onRetry }) => html`
    <div class="blank">
        <${Icon} name=${isGone ? "search-x" : "cloud-off"} />
        <p role="alert">${isGone ? t("link.gone") : (message ?? t("page.failed"))}</p>
        <p class="actions">
            ${isGone
                ? html`
                      <a class="button" href="/dashboard/">${t("start.list")}</a>
                      ${history && html`<a class="button quiet" href=${`/dashboard/links/${history}/history`}>${t("history.ofLink")}</a>`}
                  `
                : html`<button onClick=${onRetry}><${Icon} name="rotate-cw" />${t("page.retry")}</button>`}
        </p>
    </div>
`;
