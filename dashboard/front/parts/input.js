/** A labelled input of a form, with the API's message about it, and the form's own message and button. */
import { html } from "../core/html.js";

/**
 * @param {object} properties
 * @param {import("./sending.js").Sending} properties.sending
 * @param {string} properties.name of the API's field
 * @param {string} properties.label
 * @param {import("../core/html.js").Signal<string>} properties.value
 * @param {string} [properties.hint]
 */
export function Input({ sending, name, label, value, hint, ...more }) {
    const error = sending.errors.value[name];
    const about = `${name}-about`;
    return html`
        <div>
            <label>
                ${label}
                <input
                    name=${name}
                    value=${value.value}
                    aria-invalid=${error === undefined ? undefined : "true"}
                    aria-describedby=${error || hint ? about : undefined}
                    onInput=${(/** @type {any} */ event) => (value.value = event.target.value)}
                    ...${more}
                />
            </label>
            ${error && html`<small id=${about} class="error" role="alert">${error}</small>`}
            ${!error && hint && html`<small id=${about}>${hint}</small>`}
        </div>
    `;
}

/**
 * @param {object} properties
 * @param {import("./sending.js").Sending} properties.sending
 * @param {string[]} [properties.fields] that show their messages themselves
 * @param {string} properties.label of the button
 */
export function Submit({ sending, fields = [], label }) {
    const rest = Object.entries(sending.errors.value).filter(([name]) => !fields.includes(name));
    return html`
        ${rest.map(([name, message]) => html`<p key=${name} role="alert" class="failure">${message}</p>`)}
        <button type="submit" aria-busy=${sending.isBusy.value} disabled=${sending.isBusy.value}>${label}</button>
    `;
}
