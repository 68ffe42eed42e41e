/** Who made a change. */
import { textOr } from "../../core/texts.js";

/** @param {import("./endpoints.js").Change} change */
export function actorOf({ actor, via }) {
    if (actor === null) return textOr(`via.${via}`, via);
    return `${actor.firstName} ${actor.lastName}`.trim() || actor.email;
}
