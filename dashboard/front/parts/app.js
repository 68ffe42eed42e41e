/** The frame of every page: navigation, banners about the service's state, and messages. */
import { account, loadAccount, may } from "../core/account.js";
import { notFound } from "../core/api.js";
import { html, signal, useEffect, useSignalEffect } from "../core/html.js";
import { useShortcuts } from "../core/keys.js";
import { navigate, path } from "../core/router.js";
import { accessToken, signIn } from "../core/session.js";
import { serviceName, t } from "../core/texts.js";
import { currentPage, navigation } from "../pages/routes.js";
import { Banners, recoveries } from "./banners.js";
import { Footer } from "./footer.js";
import { useGrowing } from "./gradual.js";
import { ShortcutsDialog } from "./shortcuts.js";
import { Toasts } from "./toasts.js";
import { Welcome } from "./welcome.js";
import { WorkspaceSwitch } from "./workspace_switch.js";

const isListingKeys = signal(false);

export function App() {
    // What the first view does not show comes second.
    const drawn = useGrowing(2, 1);
    useEffect(() => {
        // Determines whether to show the welcome page. Later calls update the state themselves.
        accessToken().catch(() => {});
    }, []);
    useSignalEffect(() => {
        void recoveries.value;
        void notFound.value;
        // The banner reports a failure, or the page, which calls the API as well.
        if (signIn.value === "in") loadAccount().catch(() => {});
    });
    useShortcuts([
        { key: "c", label: () => t("keys.create"), run: () => navigate("/dashboard/new") },
        { key: "g", label: () => t("keys.list"), run: () => navigate("/dashboard/") },
        { key: "?", label: () => t("keys.show"), run: () => (isListingKeys.value = true) },
    ]);
    const isGreeting = !everSignedIn() && (signIn.value === "out" || signIn.value === "incomplete");
    return html`
        <a class="skip" href="#content">${t("nav.skip")}</a>
        <header class="container">
            <nav aria-label=${t("nav.label")}>
                <ul>
                    <li><strong><a href="/dashboard/">${serviceName()}</a></strong></li>
                </ul>
                ${!isGreeting && html`<${WorkspaceSwitch} />`}
                ${!isGreeting && html`<${Navigation} />`}
            </nav>
        </header>
        <main class="container" id="content" tabindex="-1">
            <${Banners} isGreeting=${isGreeting} />
            ${isGreeting ? html`<${Welcome} />` : currentPage()}
        </main>
        ${drawn > 1 &&
        html`
            <${Footer} onShortcuts=${() => (isListingKeys.value = true)} />
            <${Toasts} />
            <${ShortcutsDialog} isOpen=${isListingKeys} />
        `}
    `;
}

let wasSignedIn = false;

/** When a session ends, the page stays with all its input, instead of the welcome page. */
function everSignedIn() {
    wasSignedIn ||= signIn.value === "in";
    return wasSignedIn;
}

function Navigation() {
    return html`
        <ul>
            ${navigation.filter(({ role }) => role === undefined || account.value === null || may(role)).map(
                ({ address, label, role }) => html`
                    <li class=${role === undefined || may(role) ? undefined : "pending"}>
                        <a href=${address} aria-current=${path.value === address ? "page" : undefined}>${t(label)}</a>
                    </li>
                `,
            )}
        </ul>
    `;
}
