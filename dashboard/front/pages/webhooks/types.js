/** The types of events in groups, and what the lists of webhooks and of messages say and keep. */
import { textOr } from "../../core/texts.js";

/** @typedef {import("./endpoints.js").Webhook} Webhook */
/** @typedef {import("./endpoints.js").Delivery} Delivery */
/** @typedef {import("./endpoints.js").EventType} EventType */
/** @typedef {import("../../core/texts.js").Key} Key */

/** @type {{label: Key, types: EventType[]}[]} */
export const GROUPS = [
    {
        label: "webhooks.ofLinks",
        types: [
            "link.created",
            "link.updated",
            "link.deleted",
            "link.restored",
            "link.started",
            "link.expired",
            "link.limit_reached",
            "link.banned",
            "link.clicked",
        ],
    },
    {
        label: "webhooks.ofDestinations",
        types: ["destination.unhealthy", "destination.recovered", "domain.verified", "domain.failing", "domain.inactive"],
    },
    {
        label: "webhooks.ofWorkspace",
        types: ["import.finished", "key.created", "key.revoked", "key.expiring", "member.joined", "member.left", "webhook.disabled"],
    },
];

/** @param {string} type */
export const nameOfType = type => textOr(`event.${type}`, type);

/**
 * How an endpoint is: with the reason, if the service sends nothing to it.
 * @param {Pick<Webhook, "disabledReason" | "failingSince">} webhook
 * @returns {"active" | "failing" | "disabled.manual" | "disabled.gone" | "disabled.failing"}
 */
export function stateOf({ disabledReason, failingSince }) {
    if (disabledReason !== null) return /** @type {any} */ (`disabled.${disabledReason}`);
    return failingSince === null ? "active" : "failing";
}

/**
 * The messages of a list after its first page was read again: those that it has are replaced, new ones precede them.
 * @template {{_id: string}} T
 * @param {T[]} shown
 * @param {T[]} fresh
 * @returns {T[]}
 */
export function merged(shown, fresh) {
    const known = new Map(fresh.map(one => [one._id, one]));
    const added = fresh.filter(({ _id }) => !shown.some(one => one._id === _id));
    return [...added, ...shown.map(one => known.get(one._id) ?? one)];
}
