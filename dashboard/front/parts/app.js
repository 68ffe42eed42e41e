/** The frame of every page: the side bar, on phones the bar at the bottom, banners about the service's state, and messages. */
import { account, may, reloadAccount } from "../core/account.js";
import { notFound } from "../core/api.js";
import { html, signal, useEffect, useRef, useSignalEffect } from "../core/html.js";
import { useShortcuts } from "../core/keys.js";
import { initialsOf, nameOf } from "../core/people.js";
import { navigate, path } from "../core/router.js";
import { accessToken, signIn } from "../core/session.js";
import { serviceName, t } from "../core/texts.js";
import { currentPage, places } from "../pages/routes.js";
import { ACCOUNT_MENU, AccountMenu } from "./account_menu.js";
import { Banners, recoveries } from "./banners.js";
import { PageToasts } from "./dialog.js";
import { Icon } from "./icon.js";
import { Palette, isPaletteOpen, paletteKey } from "./palette.js";
import { ShortcutsDialog } from "./shortcuts.js";
import { Welcome } from "./welcome.js";
import { WorkspaceSwitch } from "./workspace_switch.js";

const isListingKeys = signal(false);
const logo = document.documentElement.dataset.brandLogo;

export function App() {
    useEffect(() => {
        // Determines whether to show the welcome page. Later calls update the state themselves.
        accessToken().catch(() => {});
    }, []);
    useSignalEffect(() => {
        void recoveries.value;
        void notFound.value;
        // The banner reports a failure, or the page, which calls the API as well.
        if (signIn.value === "in") reloadAccount();
    });
    const isFirstPage = useRef(true);
    useEffect(() => {
        // The followed link went with its page, and with it the focus: a screen reader reads the new one.
        if (!isFirstPage.current && document.activeElement === document.body) {
            document.getElementById("content")?.focus({ preventScroll: true });
        }
        isFirstPage.current = false;
    }, [path.value]);
    useShortcuts([
        { key: "c", label: () => t("keys.create"), run: () => navigate("/dashboard/new") },
        { key: "o", label: () => t("keys.overview"), run: () => navigate("/dashboard/overview") },
        { key: "a", label: () => t("keys.analytics"), run: () => navigate("/dashboard/analytics") },
        { key: "g", label: () => t("keys.list"), run: () => navigate("/dashboard/") },
        { key: "?", label: () => t("keys.show"), run: () => (isListingKeys.value = true) },
    ]);
    const isGreeting = !everSignedIn() && (signIn.value === "out" || signIn.value === "incomplete");
    return html`
        <a class="skip" href="#content">${t("nav.skip")}</a>
        <div class="frame">
            <header class="side">
                <${Home} />
                ${!isGreeting && html`<${Side} />`}
            </header>
            <main class="main" id="content" tabindex="-1">
                ${isGreeting ? html`<${Welcome} />` : currentPage()}
                <${Banners} isGreeting=${isGreeting} />
            </main>
            ${!isGreeting && html`<${Bottom} />`}
        </div>
        ${!isGreeting && html`<${AccountMenu} onShortcuts=${() => (isListingKeys.value = true)} />`}
        <${Palette} onShortcuts=${() => (isListingKeys.value = true)} />
        <${PageToasts} />
        <${ShortcutsDialog} isOpen=${isListingKeys} />
    `;
}

let wasSignedIn = false;

/** When a session ends, the page stays with all its input, instead of the welcome page. */
function everSignedIn() {
    wasSignedIn ||= signIn.value === "in";
    return wasSignedIn;
}

/** The operator's logo, or the first letter of the service's name. */
const Home = () => html`
    <a class="home" href="/dashboard/overview">
        ${logo
            ? html`<img src=${logo} alt="" class="brand-logo" />`
            : html`<span class="tile logo" aria-hidden="true">${serviceName()[0]}</span>`}
        <b class="text">${serviceName()}</b>
    </a>
`;

function Side() {
    const mayCreate = may("editor");
    return html`
        <div class="switch-place"><${WorkspaceSwitch} /></div>
        ${(account.value === null || mayCreate) &&
        html`<a class="primary new ${mayCreate ? "" : "pending"}" role="button" href="/dashboard/new">
            <${Icon} name="plus" /><span class="text">${t("nav.new")}</span><kbd aria-hidden="true">C</kbd>
        </a>`}
        <button class="find" aria-keyshortcuts="Control+k Meta+k" onClick=${() => (isPaletteOpen.value = true)}>
            <${Icon} name="search" /><span class="text cut">${t("palette.open")}</span><kbd aria-hidden="true">${paletteKey}</kbd>
        </button>
        <nav aria-label=${t("nav.label")}>
            <ul class="places">
                ${places().map(
                    ({ address, label, icon, isCurrent }) => html`
                        <li>
                            <a href=${address} aria-current=${isCurrent(path.value) ? "page" : undefined} title=${t(label)}>
                                <${Icon} name=${icon} /><span class="text">${t(label)}</span>
                            </a>
                        </li>
                    `,
                )}
            </ul>
        </nav>
        <button class="account-button" popovertarget=${ACCOUNT_MENU}>
            <span class="visually-hidden">${t("menu.account")}:</span>
            <span class="tile face" aria-hidden="true">${account.value && initialsOf(account.value)}</span>
            <span class="text cut">${account.value && nameOf(account.value)}</span>
            <${Icon} name="chevrons-up-down" />
        </button>
    `;
}

/** On phones. The menu of the account also has the places that find no room here. */
function Bottom() {
    const [overview, links] = places();
    /** @param {ReturnType<typeof places>[number]} place */
    const Place = ({ address, label, icon, isCurrent }) => html`
        <a href=${address} aria-current=${isCurrent(path.value) ? "page" : undefined}><${Icon} name=${icon} />${t(label)}</a>
    `;
    return html`
        <nav class="bottom" aria-label=${t("nav.phone")}>
            ${Place(overview)} ${Place(links)}
            ${may("editor")
                ? html`<a href="/dashboard/new" aria-label=${t("nav.new")}><span class="plus"><${Icon} name="plus" /></span></a>`
                : html`<span></span>`}
            <button onClick=${() => (isPaletteOpen.value = true)}><${Icon} name="search" />${t("filters.search")}</button>
            <button popovertarget=${ACCOUNT_MENU}><${Icon} name="menu" />${t("nav.more")}</button>
        </nav>
    `;
}

