/** A short link as a sign: the host is quiet, the code is strong. */
import { html } from "../core/html.js";
import { withoutScheme } from "../core/hues.js";

/** @param {{address: string, isLink?: boolean}} properties */
export function Sign({ address, isLink = false }) {
    const name = withoutScheme(address);
    const slash = name.lastIndexOf("/") + 1;
    const parts = html`<span>${name.slice(0, slash)}</span>${name.slice(slash)}`;
    return isLink
        ? html`<a class="sign cut url" href=${address} target="_blank" rel="noopener noreferrer">${parts}</a>`
        : html`<span class="sign url">${parts}</span>`;
}
