/** Where a link leads does not answer, or refuses to be checked. Quiet while all is well. */
import { dateAndTime } from "../core/format.js";
import { html } from "../core/html.js";
import { t } from "../core/texts.js";
import { Icon } from "./icon.js";

/** @param {{link: {health: {status: "unknown" | "healthy" | "blocked" | "dead", failingSince: string | null}}}} properties */
export function Health({ link: { health } }) {
    if (health.status !== "dead" && health.status !== "blocked") return null;
    const isDead = health.status === "dead";
    const since = isDead && health.failingSince !== null ? t("health.since", { time: dateAndTime(health.failingSince) }) : "";
    return html`<span class="state" data-health=${health.status} data-state=${isDead ? "rejected" : "unchecked"}>
        <${Icon} name=${isDead ? "unlink" : "info"} />${t(isDead ? "health.destinationDead" : "health.blocked")}${since && html` <small>${since}</small>`}
    </span>`;
}
