import { copy } from "../core/clipboard.js";
import { html } from "../core/html.js";
import { t } from "../core/texts.js";

/**
 * A secret that can be copied, until it is hidden.
 * @param {{value: import("../core/html.js").Signal<string | null>}} properties
 */
export function Secret({ value }) {
    const text = value.value;
    if (text === null) return null;
    return html`
        <output class="secret" dir="ltr">${text}</output>
        <button type="button"  onClick=${() => copy(text)}>${t("links.copyShort")}</button>
        <button type="button"  onClick=${() => (value.value = null)}>${t("apiKey.hide")}</button>
    `;
}
