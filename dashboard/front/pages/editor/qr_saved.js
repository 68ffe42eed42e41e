/** The saved designs of the workspace: choosing one, saving the shown one, and deleting. */
import { may } from "../../core/account.js";
import { report } from "../../core/failures.js";
import { html, useEffect, useMemo, useRef, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Confirmation } from "../../parts/confirmation.js";
import { Input, Submit } from "../../parts/input.js";
import { Sending } from "../../parts/sending.js";
import { designOf, loadDesigns, savedDesigns, savedFieldsOf } from "./qr_design.js";
import { createDesign, deleteDesign, readDesign, updateDesign } from "./qr_endpoints.js";

/** @typedef {import("./qr_design.js").Design} Design */
/** @typedef {import("./qr_endpoints.js").SavedDesign} SavedDesign */

/** @param {{design: import("../../core/html.js").Signal<Design>}} properties */
export function SavedDesigns({ design }) {
    const chosen = useSignal(/** @type {SavedDesign | null} */ (null));
    const isNaming = useSignal(false);
    useEffect(() => {
        loadDesigns().catch(report);
    }, []);
    /** @param {SavedDesign} stored */
    const show = stored => {
        chosen.value = stored;
        const { logo: _logo, ...listed } = stored;
        const others = (savedDesigns.value ?? []).filter(({ _id }) => _id !== stored._id);
        const kept = others.map(other => ({ ...other, isDefault: other.isDefault && !stored.isDefault }));
        savedDesigns.value = [...kept, listed].sort((one, other) => one.name.localeCompare(other.name));
    };
    /** @param {string} id */
    const choose = async id => {
        isNaming.value = false;
        if (id === "") {
            chosen.value = null;
            return;
        }
        const before = /** @type {Record<string, unknown>} */ ({ ...design.value });
        try {
            const saved = await readDesign(id);
            // What the user changed while the design was loaded stays.
            const typed = Object.entries(design.value).filter(([name, value]) => value !== before[name]);
            chosen.value = saved;
            design.value = { ...designOf(saved), ...Object.fromEntries(typed) };
        } catch (error) {
            report(error);
        }
    };
    /** The service has encoded its logo again. @param {SavedDesign} stored */
    const adopt = stored => {
        isNaming.value = false;
        show(stored);
        design.value = designOf(stored);
    };
    const saved = chosen.value;
    return html`
        <div class="saved-designs stack">
            <${DesignChoice} chosen=${saved?._id ?? ""} onChoose=${choose} />
            ${may("editor") &&
            html`
                ${saved !== null && html`<${Default} key=${saved._id} saved=${saved} onSaved=${show} />`}
                <div class="actions">
                    ${saved !== null && html`<${Changes} key=${saved._id} saved=${saved} design=${design.value} onSaved=${adopt} />`}
                    ${!isNaming.value && html`<button type="button" onClick=${() => (isNaming.value = true)}>${t("qr.saveAs")}</button>`}
                    ${saved !== null &&
                    html`<${Confirmation}
                        label=${t("qr.deleteDesign")}
                        question=${t("qr.deleteQuestion", { name: saved.name })}
                        action=${async () => {
                            await deleteDesign(saved._id);
                            savedDesigns.value = (savedDesigns.value ?? []).filter(({ _id }) => _id !== saved._id);
                            chosen.value = null;
                        }}
                    />`}
                </div>
                ${isNaming.value && html`<${Naming} design=${design.value} onSaved=${adopt} />`}
            `}
        </div>
    `;
}

/** @param {{chosen: string, onChoose: (id: string) => unknown}} properties */
export const DesignChoice = ({ chosen, onChoose }) => html`
    <label>
        ${t("qr.savedDesign")}
        <select name="savedDesign" onChange=${(/** @type {any} */ event) => onChoose(event.target.value)}>
            <option value="" selected=${chosen === ""}>${t("qr.noSavedDesign")}</option>
            ${(savedDesigns.value ?? []).map(
                ({ _id, name, isDefault }) => html`
                    <option key=${_id} value=${_id} selected=${_id === chosen}>${isDefault ? t("qr.isDefault", { name }) : name}</option>
                `,
            )}
        </select>
    </label>
`;

/** @param {{saved: SavedDesign, onSaved: (saved: SavedDesign) => void}} properties */
function Default({ saved, onSaved }) {
    const sending = useMemo(() => new Sending(), []);
    // The box shows what the user wants until the API has answered.
    const isDefault = useSignal(saved.isDefault);
    const change = async (/** @type {any} */ event) => {
        isDefault.value = event.target.checked;
        await sending.run(async () => onSaved(await updateDesign(saved._id, { isDefault: isDefault.value })));
        isDefault.value = sending.errors.value[""] === undefined ? isDefault.value : saved.isDefault;
    };
    return html`
        <label>
            <input type="checkbox" name="isDefault" checked=${isDefault.value} disabled=${sending.isBusy.value} onChange=${change} />
            ${t("qr.makeDefault")}
        </label>
        <${Failures} sending=${sending} />
    `;
}

/** Saves the shown design under the name of the chosen one. @param {{saved: SavedDesign, design: Design, onSaved: (saved: SavedDesign) => void}} properties */
function Changes({ saved, design, onSaved }) {
    const sending = useMemo(() => new Sending(), []);
    if (JSON.stringify(design) === JSON.stringify(designOf(saved))) return null;
    const update = async () => {
        const isDone = await sending.run(async () => onSaved(await updateDesign(saved._id, savedFieldsOf(design))));
        if (isDone) toast(t("qr.designSaved", { name: saved.name }));
    };
    return html`
        <button type="button" disabled=${sending.isBusy.value} onClick=${update}>${t("qr.saveDesign")}</button>
        <${Failures} sending=${sending} />
    `;
}

/** @param {{sending: Sending}} properties */
const Failures = ({ sending }) => html`
    ${Object.values(sending.errors.value).map(message => html`<p key=${message} role="alert" class="failure">${message}</p>`)}
`;

/** @param {{design: Design, onSaved: (saved: SavedDesign) => void}} properties */
function Naming({ design, onSaved }) {
    const sending = useMemo(() => new Sending(), []);
    const name = useSignal("");
    const form = useRef(/** @type {HTMLFormElement | null} */ (null));
    // The button that opened the form is gone, and with it the focus.
    useEffect(() => form.current?.querySelector("input")?.focus(), []);
    const submit = async (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const body = { ...savedFieldsOf(design), name: name.value.trim() };
        const isDone = await sending.run(async () => onSaved(await createDesign(body, sending.idempotencyKey)));
        if (isDone) toast(t("qr.designSaved", { name: body.name }));
    };
    return html`
        <form ref=${form} class="stack" onSubmit=${submit}>
            <${Input} sending=${sending} name="name" label=${t("qr.designName")} value=${name} maxlength="60" required />
            <div class="actions"><${Submit} sending=${sending} fields=${["name"]} label=${t("qr.saveNew")} /></div>
        </form>
    `;
}
