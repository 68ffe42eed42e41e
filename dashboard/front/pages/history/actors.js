/** Who made a change. */
import { nameOf } from "../../core/people.js";
import { textOr } from "../../core/texts.js";

/** @param {import("./endpoints.js").Change} change */
export function actorOf({ actor, via }) {
    if (actor === null) return textOr(`via.${via}`, via);
    return nameOf(actor);
}
