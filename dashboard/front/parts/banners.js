/** Banners about an ended session and an unreachable or slow service. The page below keeps its input. */
import { call, isAway, isSlow } from "../core/api.js";
import { hasDrafts } from "../core/drafts.js";
import { html, signal, useEffect } from "../core/html.js";
import { SECOND_FACTOR, accessToken, signIn, signInAddress } from "../core/session.js";
import { t } from "../core/texts.js";
import { LostWorkspace } from "./workspace_switch.js";

/** Increases when the service can be reached again, so that pages repeat failed calls. */
export const recoveries = signal(0);

const RETRY_MILLISECONDS = 3_000;

function check() {
    accessToken().then(
        () => recoveries.value++,
        () => {},
    );
}

/** @param {{isGreeting: boolean}} properties */
export function Banners({ isGreeting }) {
    const isIncomplete = signIn.value === "incomplete" && !isGreeting;
    const isOut = (signIn.value === "out" && !isGreeting) || isIncomplete;
    const isUnreachable = isAway.value;
    useEffect(() => {
        if (!isOut) return undefined;
        // The user may have signed in in another tab.
        addEventListener("focus", check);
        return () => removeEventListener("focus", check);
    }, [isOut]);
    useEffect(() => {
        if (!isUnreachable) return undefined;
        const timer = setInterval(probe, RETRY_MILLISECONDS);
        return () => clearInterval(timer);
    }, [isUnreachable]);
    return html`
        <div class="banners" aria-live="polite">
            ${isOut &&
            html`<article class="banner" data-state="signed-out">
                <p>${t(isIncomplete ? "welcome.secondFactor" : "banner.signedOut")}</p>
                <a role="button" class="primary" href=${isIncomplete ? SECOND_FACTOR : signInAddress()} target="_blank" rel="noopener">
                    ${t(isIncomplete ? "welcome.setUp" : "banner.signIn")}
                </a>
                <button onClick=${check}>${t("banner.continue")}</button>
            </article>`}
            <${LostWorkspace} />
            ${isUnreachable &&
            html`<article class="banner" data-state="away">
                <p>${t(hasDrafts() ? "banner.away" : "banner.awayRead")}</p>
                <button onClick=${probe}>${t("banner.retry")}</button>
            </article>`}
            ${isSlow.value && !isUnreachable && html`<p class="banner" data-state="slow">${t("banner.slow")}</p>`}
        </div>
    `;
}

/** Sends a small call, because a token that is still valid does not show whether the service responds. */
function probe() {
    call("GET", "/auth/me").then(
        () => recoveries.value++,
        () => {},
    );
}
