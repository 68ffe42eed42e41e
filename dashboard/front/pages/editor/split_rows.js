/** The entries of the split of a link, and their shares as a bar. */
import { html, useRef } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { About } from "../../parts/about.js";
import { Icon } from "../../parts/icon.js";
import { RowName, Rows } from "./rows.js";
import { moved, restOf } from "./shares.js";

/** @typedef {import("./model.js").Variant} Variant */

const MOST = 5;

/** @param {{editing: import("./editing.js").Editing}} properties */
export function SplitRows({ editing }) {
    const { split } = editing.fields.value;
    const rest = restOf(split);
    /** @param {Variant[]} rows */
    const change = rows => editing.change({ split: rows });
    // The API refuses a single entry, so the first click adds two.
    const add = () => {
        const added = split.length === 0 ? 2 : 1;
        change([...split, ...Array.from({ length: added }, () => ({ url: "", weight: 25 }))]);
    };
    return html`
        <p><small>${t("split.text")}</small></p>
        ${split.length > 0 && html`<${Bar} split=${split} rest=${rest} onChange=${change} />`}
        <${Rows} rows=${split} onChange=${change} label=${t("section.split")} show=${(
            /** @type {Variant} */ row,
            /** @type {(changes: Partial<Variant>) => void} */ set,
            /** @type {number} */ position,
        ) => html`
            <${RowName}
                name=${`split.${position}.name`}
                position=${position}
                placeholder=${t("split.named", { position: position + 1 })}
                value=${row.name}
                onName=${(/** @type {string | null} */ name) => set({ name })}
            />
            <div class="variant">
                <label>
                    ${t("row.url")}
                    <input
                        inputmode="url"
                        dir="ltr"
                        name=${`split.${position}.url`}
                        required
                        value=${row.url}
                        onInput=${(/** @type {any} */ event) => set({ url: event.target.value })}
                    />
                    <${About} id=${`split-${position}`} error=${editing.errors.value[`split.${position}.url`]} />
                </label>
                <label>
                    ${t("row.weight")}
                    <input
                        type="number"
                        name=${`split.${position}.weight`}
                        min="1"
                        max="99"
                        required
                        value=${row.weight}
                        onInput=${(/** @type {any} */ event) => set({ weight: Number(event.target.value) })}
                    />
                </label>
            </div>
        `} />
        ${split.length > 0 && html`<p role="status">${t("split.rest", { percent: rest })}</p>`}
        ${split.length < MOST &&
        html`<button type="button" onClick=${add}><${Icon} name="plus" />${t("split.add")}</button>`}
    `;
}

/**
 * The shares as a bar, whose boundaries are dragged, or moved with the arrow keys. The last share is the rest, which goes
 * to the destination of the link.
 * @param {{split: Variant[], rest: number, onChange: (rows: Variant[]) => void}} properties
 */
function Bar({ split, rest, onChange }) {
    const bar = useRef(/** @type {HTMLElement | null} */ (null));
    const shares = [...split.map(({ weight }) => weight || 0), Math.max(0, rest)];
    /** @param {number} at @param {number} weight */
    const set = (at, weight) => onChange(moved(shares, at, weight).slice(0, -1).map((share, row) => ({ ...split[row], weight: share })));
    /** @param {number} at @param {PointerEvent} event */
    const drag = (at, event) => {
        const handle = /** @type {HTMLElement} */ (event.currentTarget);
        if (bar.current === null || !handle.hasPointerCapture(event.pointerId)) return;
        const { left, right, width } = bar.current.getBoundingClientRect();
        const isFromRight = getComputedStyle(bar.current).direction === "rtl";
        const before = shares.slice(0, at).reduce((sum, share) => sum + share, 0);
        set(at, Math.round(((isFromRight ? right - event.clientX : event.clientX - left) / width) * 100) - before);
    };
    /** @param {number} at @param {KeyboardEvent} event */
    const onKeyDown = (at, event) => {
        const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        set(at, shares[at] + step);
    };
    /** @param {number} at */
    const nameOf = at => (at < split.length ? split[at].name || t("split.named", { position: at + 1 }) : t("split.others"));
    return html`
        <div ref=${bar} class="split-bar">
            ${shares.map(
                (share, at) => html`
                    <span key=${at} class="share" aria-hidden="true" style=${{ flexGrow: share }}>${share >= 8 ? `${share} %` : ""}</span>
                    ${at < shares.length - 1 &&
                    html`<span
                        key=${`boundary ${at}`}
                        class="boundary"
                        role="slider"
                        tabindex="0"
                        aria-label=${t("split.boundary", { one: nameOf(at), other: nameOf(at + 1) })}
                        aria-valuemin="1"
                        aria-valuemax=${shares[at] + shares[at + 1] - 1}
                        aria-valuenow=${share}
                        aria-valuetext=${`${share} %`}
                        onPointerDown=${(/** @type {any} */ event) => event.currentTarget.setPointerCapture(event.pointerId)}
                        onPointerMove=${(/** @type {PointerEvent} */ event) => drag(at, event)}
                        onKeyDown=${(/** @type {KeyboardEvent} */ event) => onKeyDown(at, event)}
                    ></span>`}
                `,
            )}
        </div>
    `;
}
