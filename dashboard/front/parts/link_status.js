/** The status of a link: quiet while it works, with an icon and a reason while it does not. */
import { shortDay } from "../core/format.js";
import { html } from "../core/html.js";
import { t } from "../core/texts.js";
import { Icon } from "./icon.js";

/** @type {Record<Exclude<import("../core/status.js").Status, "active">, import("./icon.js").IconName>} */
const ICONS = {
    scheduled: "clock",
    expired: "calendar-x",
    limit_reached: "gauge",
    disabled: "pause",
    banned: "shield-alert",
    domain_inactive: "unplug",
};

/** @param {{link: import("../core/status.js").Stated}} properties */
export function LinkStatus({ link }) {
    const { status } = link;
    if (status === "active") return html`<span class="state" data-state="active">${t("status.active")}</span>`;
    return html`<span class="state" data-state=${status}><${Icon} name=${ICONS[status]} />${textOf(status, link)}</span>`;
}

/**
 * @param {import("../core/status.js").Status} status
 * @param {import("../core/status.js").Stated} link
 */
function textOf(status, { startsAt, expiresAt }) {
    if (status === "scheduled" && startsAt) return t("status.starts", { day: shortDay(startsAt) });
    if (status === "expired" && expiresAt) return t("status.expiredOn", { day: shortDay(expiresAt) });
    return t(`status.${status}`);
}
