/** Asks for the name and the colour of a tag. The name of another tag merges the two, after a question. */
import { ApiError } from "../../core/api.js";
import { html, useEffect, useMemo, useSignal } from "../../core/html.js";
import { isolated, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Dialog } from "../../parts/dialog.js";
import { Sending } from "../../parts/sending.js";
import { changeTag } from "./endpoints.js";

/** @typedef {import("./endpoints.js").Tag} Tag */
/** @typedef {import("./endpoints.js").TagChange} TagChange */

const FIRST_COLOR = "#2F6FDE";

/**
 * @param {object} properties
 * @param {import("../../core/html.js").Signal<boolean>} properties.isOpen
 * @param {Tag | null} properties.tag
 * @param {() => Promise<void>} properties.onDone
 * @param {(change: TagChange, text: string) => void} properties.onChange
 */
export function TagDialog({ isOpen, tag, onDone, onChange }) {
    const sending = useMemo(() => new Sending(), []);
    const name = useSignal("");
    const color = useSignal(/** @type {string | null} */ (null));
    /** Whether the API has refused a name because another tag has it. */
    const isMerging = useSignal(false);
    useEffect(() => {
        name.value = tag?.name ?? "";
        color.value = tag?.color ?? null;
        isMerging.value = false;
        sending.errors.value = {};
    }, [tag, isOpen.value]);
    if (tag === null) return null;
    /** @param {SubmitEvent} event */
    const submit = async event => {
        event.preventDefault();
        const isDone = await sending.run(async () => {
            try {
                const body = { name: name.value, color: color.value, merge: isMerging.value };
                const { change } = await changeTag(tag.name, body);
                const text = t(isMerging.value ? "tags.merged" : "tags.saved", { name: isolated(name.value) });
                if (change === null) toast(text);
                else onChange(change, text);
            } catch (error) {
                if (error instanceof ApiError && error.code === "tag_exists") isMerging.value = true;
                throw error;
            }
        });
        if (!isDone) return;
        isOpen.value = false;
        await onDone();
    };
    const { name: problem, "": other } = sending.errors.value;
    return html`
        <${Dialog} isOpen=${isOpen} title=${t("tags.change")}>
            <form onSubmit=${submit}>
                <label>
                    ${t("tags.name")}
                    <input
                        name="name"
                        type="text"
                        required
                        autofocus
                        maxlength="50"
                        autocomplete="off"
                        dir="auto"
                        value=${name.value}
                        aria-invalid=${problem ? "true" : undefined}
                        onInput=${(/** @type {any} */ event) => {
                            name.value = event.target.value;
                            isMerging.value = false;
                        }}
                    />
                    <small>${t("tags.nameText", { count: tag.linkCount })}</small>
                </label>
                <label>
                    <input
                        type="checkbox"
                        role="switch"
                        name="hasColor"
                        checked=${color.value !== null}
                        onChange=${(/** @type {any} */ event) => (color.value = event.target.checked ? FIRST_COLOR : null)}
                    />
                    ${t("tags.hasColor")}
                </label>
                ${color.value !== null &&
                html`<label>
                    ${t("tags.color")}
                    <input name="color" type="color" value=${color.value.toLowerCase()} onInput=${(/** @type {any} */ event) => (color.value = event.target.value)} />
                </label>`}
                ${isMerging.value
                    ? html`<p role="alert" class="note warn">${t("tags.mergeQuestion", { name: isolated(name.value) })}</p>`
                    : (problem ?? other) && html`<p role="alert" class="failure">${problem ?? other}</p>`}
                <div class="actions">
                    <button type="submit" class="primary" aria-busy=${sending.isBusy.value} disabled=${sending.isBusy.value}>
                        ${t(isMerging.value ? "tags.merge" : "editor.save")}
                    </button>
                    <button type="button" onClick=${() => (isOpen.value = false)}>${t("confirmation.cancel")}</button>
                </div>
            </form>
        <//>
    `;
}
