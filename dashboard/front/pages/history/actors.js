/** Who made a change. */
import { nameOf } from "../../core/people.js";
import { t, textOr } from "../../core/texts.js";

/** @param {import("./endpoints.js").Change} change */
export function actorOf({ actor, via, keyId, tokenIssuer, tokenSubject }) {
    if (tokenIssuer !== null) return `${tokenSubject} (${new URL(tokenIssuer).host})`;
    // Of a workspace, or of a deleted account.
    if (actor === null && keyId !== null) return t("via.key");
    if (actor === null) return textOr(`via.${via}`, via);
    return nameOf(actor);
}
