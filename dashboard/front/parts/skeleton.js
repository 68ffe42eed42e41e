/** The shape of what is still being loaded. On the pages of forms, what is below it appears with it, so that nothing moves. */
import { html } from "../core/html.js";
import { t } from "../core/texts.js";

/** The bars of each entry. */
const BARS = { rows: 3, cards: 2, inputs: 2, figures: 1 };

/** @param {{shape: keyof typeof BARS, count: number}} properties */
export const Skeleton = ({ shape, count }) => html`
    <p class="visually-hidden" role="status" aria-busy="true">${t("page.loading")}</p>
    <ul class=${`skeleton ${shape}`} aria-hidden="true">
        ${Array.from({ length: count }, (_, entry) => html`<li key=${entry}>${Array.from({ length: BARS[shape] }, () => html`<i></i>`)}</li>`)}
    </ul>
`;
