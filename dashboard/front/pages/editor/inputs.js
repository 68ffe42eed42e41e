/** Labelled inputs of the editor. Each shows the API's message about its field. */
import { html, useRef, useSignal } from "../../core/html.js";
import { About } from "../../parts/about.js";
import { Icon } from "../../parts/icon.js";

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
        <div class="field">
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
 * A collapsible part of the editor, which says in one line what it holds. It opens if the API has refused something in it,
 * and never closes by itself.
 * @param {object} properties
 * @param {import("../../parts/icon.js").IconName} properties.icon
 * @param {string} properties.title
 * @param {string} properties.holds
 * @param {boolean} properties.isWrong
 * @param {boolean} [properties.isEmpty] whether what it contains can wait until it is opened
 * @param {import("../../core/html.js").Children} properties.children
 */
export function Section({ icon, title, holds, isWrong, isEmpty = false, children }) {
    const wasOpen = useRef(false);
    const wasOpened = useSignal(false);
    wasOpen.current ||= isWrong;
    return html`
        <details class="section" open=${wasOpen.current} onToggle=${(/** @type {any} */ event) => (wasOpened.value ||= event.target.open)}>
            <summary>
                <${Icon} name=${icon} /><b>${title}</b><span class="holds cut" dir="auto">${holds}</span>
                <${Icon} name="chevron-down" />
            </summary>
            <div>${(wasOpened.value || wasOpen.current || !isEmpty) && children}</div>
        </details>
    `;
}

/**
 * Whether the API has refused one of these fields, or a part of one.
 * @param {Editing} editing
 * @param {readonly string[]} names
 */
export const hasError = ({ errors }, names) =>
    Object.keys(errors.value).some(path => names.some(name => path === name || path.startsWith(`${name}.`)));
