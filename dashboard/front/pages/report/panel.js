/** A panel with several tables under one title, of which a tab shows one. The arrow keys move between the tabs. */
import { html, useRef, useSignal } from "../../core/html.js";

/** @typedef {{name: string, label: string, show: () => import("../../core/html.js").Children}} Tab */

/** @param {{name: string, title: string, tabs: Tab[]}} properties */
export function Panel({ name, title, tabs }) {
    const chosen = useSignal(tabs[0].name);
    const list = useRef(/** @type {HTMLElement | null} */ (null));
    const current = tabs.find(tab => tab.name === chosen.value) ?? tabs[0];
    const id = `panel-${name}`;
    /** @param {KeyboardEvent} event */
    const onKeyDown = event => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const next = (tabs.indexOf(current) + step + tabs.length) % tabs.length;
        chosen.value = tabs[next].name;
        const button = list.current?.children[next];
        if (button instanceof HTMLElement) button.focus();
    };
    return html`
        <section class="panel" aria-label=${title}>
            <div class="panel-head">
                <h2>${title}</h2>
                <div ref=${list} role="tablist" aria-label=${title} onKeyDown=${onKeyDown}>
                    ${tabs.map(
                        tab => html`<button
                            key=${tab.name}
                            type="button"
                            role="tab"
                            id=${`${id}-${tab.name}`}
                            aria-selected=${tab === current ? "true" : "false"}
                            aria-controls=${id}
                            tabindex=${tab === current ? 0 : -1}
                            onClick=${() => (chosen.value = tab.name)}
                        >
                            ${tab.label}
                        </button>`,
                    )}
                </div>
            </div>
            <div role="tabpanel" id=${id} aria-labelledby=${`${id}-${current.name}`}>${current.show()}</div>
        </section>
    `;
}
