/** The sessions of the account: browsers and programs that are signed in. */
import { dateAndTime } from "../../core/format.js";
import { html } from "../../core/html.js";
import { signOut } from "../../core/session.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Confirmation } from "../../parts/confirmation.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { endSession, listSessions } from "./endpoints.js";
import { nameOfBrowser } from "./user_agents.js";

/** @typedef {import("./endpoints.js").Session} Session */

/** @param {Session} session */
const nameOf = session => nameOfBrowser(session.userAgent) || session.userAgent || t("sessions.unnamed");

export function Sessions() {
    const loaded = useLoaded(listSessions);
    const sessions = loaded.value ?? [];
    const others = sessions.filter(session => !session.isCurrent);
    /** @param {Session[]} ended */
    const end = async ended => {
        for (const session of ended) await endSession(session._id);
        toast(t("sessions.ended", { count: ended.length }));
        await loaded.refresh();
    };
    return html`
        <section aria-labelledby="sessions">
            <h2 id="sessions">${t("sessions.title")}</h2>
            <p>${t("sessions.text")}</p>
            <${Pending} of=${loaded} />
            <ul class="cards">
                ${sessions.map(session => html`<${Row} key=${session._id} session=${session} onEnd=${() => end([session])} />`)}
            </ul>
            ${others.length > 1 &&
            html`<${Confirmation}
                label=${t("sessions.endOthers")}
                question=${t("sessions.othersQuestion", { count: others.length })}
                action=${() => end(others)}
            />`}
        </section>
    `;
}

/** @param {{session: Session, onEnd: () => Promise<void>}} properties */
function Row({ session, onEnd }) {
    const name = nameOf(session);
    const times = { created: dateAndTime(session.createdAt), used: dateAndTime(session.lastUsedAt) };
    return html`
        <li data-session=${session._id}>
            <div>
                <strong dir="auto">${name}</strong>
                ${session.isCurrent && html` <span class="state">${t("sessions.current")}</span>`}
                <small>${t("sessions.times", times)}</small>
                <small dir="ltr">${session.userAgent}</small>
            </div>
            ${session.isCurrent
                ? html`<button type="button"  onClick=${signOut}>${t("footer.signOut")}</button>`
                : html`<${Confirmation}
                      label=${t("sessions.end")}
                      about=${t("sessions.endOne", { name })}
                      question=${t("sessions.question", { name })}
                      action=${onEnd}
                  />`}
        </li>
    `;
}
