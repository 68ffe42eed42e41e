/** A button that opens a list of actions. The browser closes it: on Escape, and on a click elsewhere. */
import { html, useLayoutEffect, useRef, useSignal } from "../core/html.js";
import { Icon } from "./icon.js";

const MARGIN = 4;

/**
 * Below the button, or above it where there is no space; its end at the end of the button.
 * @param {HTMLElement} menu
 * @param {HTMLElement} button
 */
function place(menu, button) {
    const around = button.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = menu;
    const left = getComputedStyle(menu).direction === "ltr" ? around.right - width : around.left;
    const below = around.bottom + MARGIN;
    const top = below + height > innerHeight ? around.top - height - MARGIN : below;
    menu.style.left = `${Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN))}px`;
    menu.style.top = `${Math.max(MARGIN, top)}px`;
}

/**
 * @param {object} properties
 * @param {string} properties.id
 * @param {string} properties.label
 * @param {import("./icon.js").IconName} [properties.icon]
 * @param {() => import("../core/html.js").Children} properties.items links and buttons, drawn while the menu is open
 */
export function Menu({ id, label, icon = "ellipsis", items }) {
    const button = useRef(/** @type {HTMLElement | null} */ (null));
    const menu = useRef(/** @type {HTMLElement | null} */ (null));
    const isOpen = useSignal(false);
    const isDrawn = isOpen.value;
    useLayoutEffect(() => {
        if (isDrawn && menu.current !== null && button.current !== null) place(menu.current, button.current);
    }, [isDrawn]);
    return html`
        <button ref=${button} type="button" class="icon-button md" popovertarget=${id} aria-label=${label} title=${label}>
            <${Icon} name=${icon} />
        </button>
        <div
            ref=${menu}
            id=${id}
            class="menu"
            popover="auto"
            onToggle=${(/** @type {any} */ event) => (isOpen.value = event.newState === "open")}
            onClick=${(/** @type {any} */ event) => event.target.closest("a, button") && menu.current?.hidePopover()}
        >
            ${isDrawn && items()}
        </div>
    `;
}
