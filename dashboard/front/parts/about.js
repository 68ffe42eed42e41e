/** The line below a field: the API's message about it, or a hint. */
import { html } from "../core/html.js";

/** @param {{id: string, error?: string, hint?: import("../core/html.js").Children}} properties */
export function About({ id, error, hint }) {
    if (error) return html`<small id=${id} class="error" role="alert">${error}</small>`;
    return hint ? html`<small id=${id}>${hint}</small>` : null;
}
