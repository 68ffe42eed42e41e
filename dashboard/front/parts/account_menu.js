/** The menu of the account: its pages, the language, the theme, and the way out. On phones it also has the other places. */
import { account, speak } from "../core/account.js";
import { report } from "../core/failures.js";
import { html } from "../core/html.js";
import { chooseTheme, theme } from "../core/preferences.js";
import { signIn, signOut } from "../core/session.js";
import { language, languages, t } from "../core/texts.js";
import { places } from "../pages/routes.js";
import { Icon } from "./icon.js";
import { WorkspaceSwitch } from "./workspace_switch.js";

export const ACCOUNT_MENU = "account-menu";

const THEMES = /** @type {const} */ (["", "light", "dark"]);
const nameOf = (/** @type {string} */ code) => new Intl.DisplayNames([code], { type: "language" }).of(code) ?? code;
const close = () => document.getElementById(ACCOUNT_MENU)?.hidePopover();

/** @param {{onShortcuts: () => void}} properties */
export function AccountMenu({ onShortcuts }) {
    const isSignedIn = signIn.value !== "out" && signIn.value !== "unknown";
    return html`
        <div
            id=${ACCOUNT_MENU}
            class="menu account-menu"
            popover="auto"
            onClick=${(/** @type {any} */ event) => event.target.closest("a, button") && close()}
        >
            ${account.value !== null && html`<p><b dir="auto">${account.value.email}</b></p>`}
            <div class="phone-only"><${WorkspaceSwitch} name="workspace-on-phone" /></div>
            ${places()
                .slice(2)
                .map(
                    ({ address, label, icon }) => html`
                        <a class="phone-only" href=${address}><${Icon} name=${icon} />${t(label)}</a>
                    `,
                )}
            <a class="wide-only" href="/dashboard/account"><${Icon} name="user" />${t("account.title")}</a>
            <a href="/dashboard/keys"><${Icon} name="key-round" />${t("apiKeys.pageTitle")}</a>
            <label>
                <${Icon} name="languages" />${t("footer.language")}
                <select onChange=${(/** @type {any} */ event) => speak(event.target.value)}>
                    ${languages.map(code => html`<option value=${code} selected=${code === language}>${nameOf(code)}</option>`)}
                </select>
            </label>
            <label>
                <${Icon} name="sun-moon" />${t("menu.theme")}
                <select onChange=${(/** @type {any} */ event) => chooseTheme(event.target.value)}>
                    ${THEMES.map(
                        name => html`
                            <option value=${name} selected=${name === theme.value}>${t(`theme.${name || "system"}`)}</option>
                        `,
                    )}
                </select>
            </label>
            <button class="wide-only" onClick=${onShortcuts}><${Icon} name="keyboard" />${t("footer.keys")}</button>
            <a href="/api/docs"><${Icon} name="external-link" />${t("welcome.docs")}</a>
            ${isSignedIn &&
            html`<hr />
                <button onClick=${() => signOut().catch(report)}><${Icon} name="log-out" />${t("footer.signOut")}</button>`}
        </div>
    `;
}
