/** A list of rows that can be moved with the mouse and with the keyboard. */
import { html, useRef } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";

/**
 * @template T
 * @param {readonly T[]} rows
 * @param {number} from
 * @param {number} to
 */
function moved(rows, from, to) {
    const next = rows.filter((_, position) => position !== from);
    next.splice(to, 0, rows[from]);
    return next;
}

/**
 * The name of a row.
 * @param {{name: string, position: number, placeholder: string, value: string | null | undefined, onName: (name: string | null) => void}} properties
 */
export const RowName = ({ name, position, placeholder, value, onName }) => html`
    <input
        class="row-name"
        name=${name}
        maxlength="50"
        dir="auto"
        aria-label=${t("row.name", { position: position + 1 })}
        placeholder=${placeholder}
        value=${value ?? ""}
        onInput=${(/** @type {any} */ event) => onName(event.target.value || null)}
    />
`;

/**
 * @param {object} properties
 * @param {any[]} properties.rows
 * @param {(rows: any[]) => void} properties.onChange
 * @param {(row: any, change: (changes: object) => void, position: number) => import("../../core/html.js").Children} properties.show
 * @param {string} properties.label
 */
export function Rows({ rows, onChange, show, label }) {
    const dragged = useRef(-1);
    const list = useRef(/** @type {HTMLOListElement | null} */ (null));
    /**
     * @param {number} from
     * @param {number} to
     */
    const move = (from, to) => {
        if (from < 0 || to < 0 || to >= rows.length || from === to) return;
        onChange(moved(rows, from, to));
        // The focus stays on the row that moved.
        requestAnimationFrame(() => handle(list.current, to)?.focus());
    };
    /** @param {number} position */
    const remove = position => {
        onChange(rows.filter((_, at) => at !== position));
        // The button of the last row is gone, and with it the focus.
        requestAnimationFrame(() => {
            const next = handle(list.current, rows.length - 2) ?? list.current?.nextElementSibling;
            if (document.activeElement === document.body && next instanceof HTMLElement) next.focus();
        });
    };
    return html`
        <ol class="rows" ref=${list} aria-label=${label}>
            ${rows.map(
                (row, position) => html`
                    <li
                        key=${position}
                        onDragOver=${(/** @type {Event} */ event) => event.preventDefault()}
                        onDrop=${(/** @type {Event} */ event) => {
                            event.preventDefault();
                            move(dragged.current, position);
                        }}
                    >
                        <button
                            type="button"
                            class="handle icon-button md"
                            draggable="true"
                            aria-label=${t("rows.move", { position: position + 1 })}
                            title=${t("rows.hint")}
                            onDragStart=${() => (dragged.current = position)}
                            onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
                                const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
                                if (step === undefined) return;
                                event.preventDefault();
                                move(position, position + step);
                            }}
                        >
                            <${Icon} name="grip-vertical" />
                        </button>
                        <div>
                            ${show(
                                row,
                                changes => onChange(rows.map((other, at) => (at === position ? { ...other, ...changes } : other))),
                                position,
                            )}
                        </div>
                        ${position > 0 &&
                        html`<button
                            type="button"
                            class="up icon-button md"
                            title=${t("rows.up", { position: position + 1 })}
                            aria-label=${t("rows.up", { position: position + 1 })}
                            onClick=${() => move(position, position - 1)}
                        >
                            <${Icon} name="arrow-up" />
                        </button>`}
                        <button
                            type="button"
                            class="icon-button md"
                            title=${t("rows.remove", { position: position + 1 })}
                            aria-label=${t("rows.remove", { position: position + 1 })}
                            onClick=${() => remove(position)}
                        >
                            <${Icon} name="trash-2" />
                        </button>
                    </li>
                `,
            )}
        </ol>
    `;
}

/**
 * @param {HTMLElement | null} list
 * @param {number} position
 */
function handle(list, position) {
    const element = list?.querySelectorAll(":scope > li > .handle")[position];
    return element instanceof HTMLElement ? element : null;
}
