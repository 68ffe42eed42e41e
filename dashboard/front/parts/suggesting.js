/** An input with a list of suggestions, which the arrow keys or the pointer choose. What is typed need not be one. */
import { html, useRef, useSignal } from "../core/html.js";
import { t } from "../core/texts.js";

const MOST = 8;

/**
 * @param {object} properties
 * @param {string} properties.id
 * @param {string} properties.value
 * @param {readonly string[]} properties.options
 * @param {(text: string) => void} properties.onType
 * @param {(option: string) => void} properties.onChoose
 * @param {(event: KeyboardEvent) => void} [properties.onKeyDown] keys that the list does not use
 * @param {(option: string) => string} [properties.nameOf] what an option shows
 * @param {(option: string) => Record<string, string>} [properties.look] the attributes of an option's name
 * @param {boolean} [properties.areHits] whether the options are those for what is typed
 * @param {{current: HTMLInputElement | null}} [properties.field]
 */
export function Suggesting(properties) {
    const { id, value, options, onType, onChoose, onKeyDown = () => {}, nameOf = same, look = plain, areHits = false, field, ...more } = properties;
    const own = useRef(/** @type {HTMLInputElement | null} */ (null));
    const isOpen = useSignal(false);
    const active = useSignal(-1);
    const sought = value.trim().toLowerCase();
    const found = options.filter(option => areHits || nameOf(option).toLowerCase().includes(sought)).slice(0, MOST);
    // What is typed already is no suggestion.
    const isShown = isOpen.value && found.some(option => nameOf(option) !== value);
    const list = `${id}-list`;
    const close = () => {
        isOpen.value = false;
        active.value = -1;
    };
    /** @param {string} option */
    const choose = option => {
        close();
        onChoose(option);
    };
    /** @param {KeyboardEvent} event */
    const onKey = event => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const chosen = isShown ? found[active.value] : undefined;
        if (step !== undefined && found.length > 0) {
            // Between the last and the first is the input itself.
            const places = found.length + 1;
            active.value = ((active.value + 1 + step + places) % places) - 1;
            isOpen.value = true;
        } else if (event.key === "Escape" && isShown) {
            event.stopPropagation();
            close();
        } else if (event.key === "Enter" && chosen !== undefined) {
            choose(chosen);
        } else {
            // What ends a value ends the suggestions for it.
            if (event.key === "Enter" || event.key === ",") close();
            onKeyDown(event);
            return;
        }
        event.preventDefault();
    };
    return html`
        <input
            ref=${field ?? own}
            id=${id}
            role="combobox"
            aria-autocomplete="list"
            aria-expanded=${isShown ? "true" : "false"}
            aria-controls=${isShown ? list : undefined}
            aria-activedescendant=${isShown && active.value >= 0 ? `${list}-${active.value}` : undefined}
            autocomplete="off"
            dir="auto"
            value=${value}
            onClick=${() => (isOpen.value = true)}
            onInput=${(/** @type {any} */ event) => {
                isOpen.value = true;
                active.value = -1;
                onType(event.target.value);
            }}
            onBlur=${close}
            onKeyDown=${onKey}
            ...${more}
        />
        ${isShown &&
        html`<ul id=${list} class="suggestions" role="listbox" aria-label=${t("chips.suggestions")}>
            ${found.map(
                (option, position) => html`
                    <li
                        key=${option}
                        id=${`${list}-${position}`}
                        role="option"
                        aria-selected=${position === active.value ? "true" : "false"}
                        onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()}
                        onClick=${() => choose(option)}
                    >
                        <span ...${look(option)} dir="auto">${nameOf(option)}</span>
                    </li>
                `,
            )}
        </ul>`}
    `;
}

/** @param {string} option */
const same = option => option;

/** @returns {Record<string, string>} */
const plain = () => ({});
