/** The page of a user who has not signed in, or has to set up a second factor first. */
import { html } from "../core/html.js";
import { SECOND_FACTOR, signIn, signInAddress } from "../core/session.js";
import { serviceName, t } from "../core/texts.js";

export const Welcome = () => html`
    <div class="first">
        <div>
            <h1>${serviceName()}</h1>
            ${signIn.value === "incomplete"
                ? html`
                      <p class="lead">${t("welcome.secondFactor")}</p>
                      <p class="actions"><a class="primary" role="button" href=${SECOND_FACTOR}>${t("welcome.setUp")}</a></p>
                  `
                : html`
                      <p class="lead">${t("welcome.text")}</p>
                      <p class="actions"><a class="primary" role="button" href=${signInAddress()}>${t("welcome.signIn")}</a></p>
                  `}
            <p class="actions">
                <a href="/api/docs">${t("welcome.docs")}</a>
                <a href="/api/schema">${t("welcome.schema")}</a>
                <a href="/admin/">${t("welcome.admin")}</a>
            </p>
        </div>
    </div>
`;
