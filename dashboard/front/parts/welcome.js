/** The page of a user who has not signed in, or has to set up a second factor first. */
import { html } from "../core/html.js";
import { SECOND_FACTOR, signIn, signInAddress } from "../core/session.js";
import { t } from "../core/texts.js";

export const Welcome = () => html`
    <h1>${t("welcome.title")}</h1>
    ${signIn.value === "incomplete" ? html`<${SecondFactor} />` : html`<${SignIn} />`}
    <ul>
        <li><a href="/api/docs">${t("welcome.docs")}</a></li>
        <li><a href="/api/schema">${t("welcome.schema")}</a></li>
        <li><a href="/admin/">${t("welcome.admin")}</a></li>
    </ul>
`;

const SignIn = () => html`
    <p>${t("welcome.text")}</p>
    <p><a role="button" href=${signInAddress()}>${t("welcome.signIn")}</a></p>
`;

const SecondFactor = () => html`
    <p>${t("welcome.secondFactor")}</p>
    <p><a role="button" href=${SECOND_FACTOR}>${t("welcome.setUp")}</a></p>
`;
