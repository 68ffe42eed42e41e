/** In the place of figures and their curve until they are loaded. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";

export const Skeleton = () => html`
    <div class="placeholder skeleton" aria-hidden="true"><i></i><i></i><i></i><i></i><i></i></div>
    <p class="visually-hidden" role="status" aria-busy="true">${t("page.loading")}</p>
`;
