import { html } from "../core/html.js";
import { dismiss, toasts } from "../core/toasts.js";
import { t } from "../core/texts.js";
import { Icon } from "./icon.js";

export const Toasts = () => html`
    <div class="toasts" role="status">
        ${toasts.value.map(
            ({ id, text, kind, actions }) => html`
                <article key=${id} class="toast" data-kind=${kind}>
                    <span dir="auto">${text}</span>
                    ${actions.map(
                        ({ label, run }) => html`
                            <button
                                onClick=${() => {
                                    run();
                                    dismiss(id);
                                }}
                            >
                                ${label}
                            </button>
                        `,
                    )}
                    <button aria-label=${t("toast.dismiss")} onClick=${() => dismiss(id)}><${Icon} name="x" /></button>
                </article>
            `,
        )}
    </div>
`;
