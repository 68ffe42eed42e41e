import { html } from "../core/html.js";
import { ICONS } from "../icons/lucide.js";

/** @typedef {keyof typeof ICONS} IconName */

/**
 * An icon beside a text, or in a button that has a name. Screen readers skip it.
 * @param {{name: IconName, turns?: boolean}} properties `turns`: from right to left, it points the other way
 */
export const Icon = ({ name, turns = false }) => html`
    <svg class=${turns ? "i flip" : "i"} viewBox="0 0 24 24" aria-hidden="true"><path d=${ICONS[name]} /></svg>
`;
