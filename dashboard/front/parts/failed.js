/** In the place of data that could not be loaded: why, and another attempt. */
import { html } from "../core/html.js";
import { t } from "../core/texts.js";
import { Icon } from "./icon.js";

/** @param {{message: string, onRetry: () => void}} properties */
export const Failed = ({ message, onRetry }) => html`
    <div class="failed">
        <p role="alert" class="failure">${message}</p>
        <button type="button" onClick=${onRetry}><${Icon} name="rotate-cw" />${t("page.retry")}</button>
    </div>
`;
