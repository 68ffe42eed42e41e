/** A field with several values, each a chip that can be removed. What is typed becomes a chip on a comma, on Enter, and at the end. */
import { html, useRef, useSignal } from "../core/html.js";
import { listOf } from "../core/lists.js";
import { t } from "../core/texts.js";
import { About } from "./about.js";
import { Icon } from "./icon.js";
import { Suggesting } from "./suggesting.js";

/**
 * @param {object} properties
 * @param {string} properties.name
 * @param {string} properties.label
 * @param {boolean} [properties.isLabelled] whether the label is visible
 * @param {readonly string[]} properties.values
 * @param {(values: string[]) => void} properties.onChange
 * @param {(value: string) => string} [properties.nameOf] what the chip of a value shows
 * @param {(value: string) => Record<string, string>} [properties.look] the attributes of a value's text
 * @param {(text: string) => string | null} [properties.parse] the value of a text. Null: there is none, and `problem` says why.
 * @param {(text: string) => string} [properties.problem]
 * @param {readonly string[]} [properties.suggestions] values
 * @param {string} [properties.placeholder]
 * @param {string} [properties.hint]
 * @param {string} [properties.error] of the API
 * @param {boolean} [properties.required]
 */
export function Chips(properties) {
    const { name, label, isLabelled = true, values, onChange, nameOf = same, look, parse = same } = properties;
    const { problem = () => "", suggestions = [], placeholder, hint, error, required = false } = properties;
    const typed = useSignal("");
    const own = useSignal("");
    const field = useRef(/** @type {HTMLInputElement | null} */ (null));
    const message = own.value || error;
    const about = `${name}-about`;
    const others = suggestions.filter(value => !values.includes(value));
    const take = () => {
        const parts = listOf(typed.value);
        const known = parts.map(parse);
        const wrong = parts.filter((_, at) => known[at] === null);
        const added = known.filter(value => value !== null);
        own.value = wrong.length > 0 ? problem(wrong[0]) : "";
        typed.value = wrong.join(", ");
        if (added.length > 0) onChange([...new Set([...values, ...added])]);
    };
    /** @param {string} value */
    const choose = value => {
        typed.value = own.value = "";
        onChange([...values, value]);
    };
    /** @param {string} value */
    const remove = value => {
        onChange(values.filter(other => other !== value));
        field.current?.focus();
    };
    /** @param {KeyboardEvent} event */
    const onKeyDown = event => {
        const isEnd = event.key === "Enter" || (event.key === "," && !typed.value.endsWith("\\"));
        if (isEnd && typed.value.trim() !== "") {
            event.preventDefault();
            take();
        } else if (event.key === "Backspace" && typed.value === "" && values.length > 0) {
            onChange(values.slice(0, -1));
        }
    };
    return html`
        <div class="field">
            ${isLabelled && html`<label for=${name}>${label}</label>`}
            <span class="chips" onClick=${(/** @type {any} */ event) => event.target === event.currentTarget && field.current?.focus()}>
                ${values.map(
                    value => html`
                        <span key=${value} class="chip">
                            <span ...${look?.(value)} dir="auto">${nameOf(value)}</span>
                            <button type="button" aria-label=${t("chips.remove", { name: nameOf(value) })} onClick=${() => remove(value)}>
                                <${Icon} name="x" />
                            </button>
                        </span>
                    `,
                )}
                <${Suggesting}
                    field=${field}
                    id=${name}
                    name=${name}
                    aria-label=${label}
                    options=${others}
                    nameOf=${nameOf}
                    look=${look}
                    required=${required && values.length === 0}
                    placeholder=${values.length === 0 ? placeholder : t("chips.add")}
                    aria-invalid=${message ? "true" : undefined}
                    aria-describedby=${message || hint ? about : undefined}
                    value=${typed.value}
                    onType=${(/** @type {string} */ text) => (typed.value = text)}
                    onChange=${take}
                    onKeyDown=${onKeyDown}
                    onChoose=${choose}
                />
            </span>
            <${About} id=${about} error=${message} hint=${hint} />
        </div>
    `;
}

/** @param {string} value */
const same = value => value;
