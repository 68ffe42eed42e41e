/** Labelled inputs of the editor. Each shows the API's message about its field. */
import { html, useRef } from "../../core/html.js";

/** @typedef {import("./editing.js").Editing} Editing */

/**
 * An input of a field that has one text.
 * @param {Record<string, any>} properties
 */
export const Field = ({ editing, name, path = name, ...more }) => html`
    <${Input}
        name=${name}
        value=${editing.fields.value[name]}
        error=${editing.errors.value[path]}
        onValue=${(/** @type {string} */ value) => editing.change({ [name]: value })}
        ...${more}
    />
`;

/** @param {Record<string, any>} properties */
export function Input({ name, label, hint, error, onValue, type = "text", ...more }) {
    const about = `${name}-about`;
    return html`
        <div>
            <label>
                ${label}
                <input
                    name=${name}
                    type=${type}
                    aria-invalid=${error === undefined ? undefined : "true"}
                    aria-describedby=${error || hint ? about : undefined}
                    onInput=${(/** @type {any} */ event) => onValue(event.target.value)}
                    ...${more}
                />
            </label>
            <${About} id=${about} error=${error} hint=${hint} />
        </div>
    `;
}

/** @param {{id: string, error?: string, hint?: import("../../core/html.js").Children}} properties */
export function About({ id, error, hint }) {
    if (error) return html`<small id=${id} class="error" role="alert">${error}</small>`;
    return hint ? html`<small id=${id}>${hint}</small>` : null;
}

/** @param {{editing: Editing, name: "isActive" | "forwardQuery" | "removesPassword", label: string}} properties */
export const Switch = ({ editing, name, label }) => html`
    <label>
        <input
            type="checkbox"
            role="switch"
            name=${name}
            checked=${editing.fields.value[name]}
            onChange=${(/** @type {any} */ event) => editing.change({ [name]: event.target.checked })}
        />
        ${label}
    </label>
`;

/**
 * A collapsible part of the editor. It opens once it has content, and never closes by itself.
 * @param {{title: string, isOpen: boolean, children: import("../../core/html.js").Children}} properties
 */
export function Section({ title, isOpen, children }) {
    const wasOpen = useRef(false);
    wasOpen.current ||= isOpen;
    return html`
        <details open=${wasOpen.current}>
            <summary>${title}</summary>
            ${children}
        </details>
    `;
}
