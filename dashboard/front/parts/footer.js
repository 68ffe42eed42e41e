import { report } from "../core/failures.js";
import { html } from "../core/html.js";
import { signIn, signOut } from "../core/session.js";
import { chooseLanguage, language, languages, t } from "../core/texts.js";

const nameOf = (/** @type {string} */ code) => new Intl.DisplayNames([code], { type: "language" }).of(code) ?? code;

/** @param {{onShortcuts: () => void}} properties */
export const Footer = ({ onShortcuts }) => html`
    <footer class="container">
        <label>
            <span class="visually-hidden">${t("footer.language")}</span>
            <select onChange=${(/** @type {any} */ event) => chooseLanguage(event.target.value)}>
                ${languages.map(code => html`<option value=${code} selected=${code === language}>${nameOf(code)}</option>`)}
            </select>
        </label>
        <button class="outline secondary" onClick=${onShortcuts}>${t("footer.keys")}</button>
        <a href="/api/docs">${t("welcome.docs")}</a>
        ${signIn.value !== "out" && signIn.value !== "unknown" &&
        html`<button class="outline secondary" onClick=${() => signOut().catch(report)}>${t("footer.signOut")}</button>`}
    </footer>
`;
