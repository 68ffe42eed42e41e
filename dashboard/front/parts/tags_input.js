/** A field with tags, which suggests those of the workspace in their colours. */
import { html, useEffect } from "../core/html.js";
import { loadTags, tagLook, tagNames } from "../core/tags.js";
import { Chips } from "./chips.js";

/**
 * @param {object} properties
 * @param {string} properties.name
 * @param {string} properties.label
 * @param {readonly string[]} properties.values
 * @param {string} [properties.error] of the API
 * @param {(values: string[]) => void} properties.onChange
 */
export function TagsInput(properties) {
    useEffect(() => {
        if (tagNames.peek().length === 0) loadTags();
    }, []);
    return html`<${Chips} look=${tagLook} suggestions=${tagNames.value} ...${properties} />`;
}
