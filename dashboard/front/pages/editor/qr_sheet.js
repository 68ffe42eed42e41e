/** Prints the QR codes of many links on sheets of paper. */
import { report } from "../../core/failures.js";
import { html, useEffect, useMemo, useSignal } from "../../core/html.js";
import { save } from "../../core/saving.js";
import { t } from "../../core/texts.js";
import { Submit } from "../../parts/input.js";
import { Sending } from "../../parts/sending.js";
import { designOf, fieldsOf, loadDesigns, usualDesign } from "./qr_design.js";
import { readDesign, readSheet } from "./qr_endpoints.js";
import { DesignChoice } from "./qr_saved.js";

const PAPERS = /** @type {const} */ (["a4", "letter"]);
const COLUMNS = [1, 2, 3, 4, 5, 6];
const USUAL_COLUMNS = 3;
const FILES = /** @type {const} */ (["pdf", "png", "svg"]);

/** @param {{ids: string[], onDone: () => void}} properties */
export function Sheet({ ids, onDone }) {
    const sending = useMemo(() => new Sending(), []);
    const chosen = useSignal("");
    const as = useSignal(/** @type {typeof FILES[number]} */ ("pdf"));
    useEffect(() => {
        loadDesigns().then(designs => (chosen.value = designs.find(({ isDefault }) => isDefault)?._id ?? ""), report);
    }, []);
    const submit = async (/** @type {any} */ event) => {
        event.preventDefault();
        const form = new FormData(event.target);
        const isDone = await sending.run(async () => {
            const design = chosen.value === "" ? usualDesign() : designOf(await readDesign(chosen.value));
            const { size: _size, widthMm: _width, ...fields } = fieldsOf(design);
            const paper = /** @type {typeof PAPERS[number]} */ (form.get("paper") ?? PAPERS[0]);
            const archive = /** @type {"png" | "svg" | null} */ (as.value === "pdf" ? null : as.value);
            save(await readSheet({ ...fields, urlIds: ids, paper, columns: Number(form.get("columns") ?? USUAL_COLUMNS), archive }));
        });
        if (isDone) onDone();
    };
    return html`
        <form class="stack" onSubmit=${submit}>
            <p>${t("sheet.text")}</p>
            <${DesignChoice} chosen=${chosen.value} onChoose=${(/** @type {string} */ id) => (chosen.value = id)} />
            <label>
                ${t("sheet.files")}
                <select name="files" onChange=${(/** @type {any} */ event) => (as.value = event.target.value)}>
                    ${FILES.map(file => html`<option key=${file} value=${file} selected=${file === as.value}>${t(`sheet.${file}`)}</option>`)}
                </select>
            </label>
            ${as.value === "pdf" && html`<div class="grid">
                <label>
                    ${t("sheet.paper")}
                    <select name="paper">${PAPERS.map(paper => html`<option key=${paper} value=${paper}>${t(`sheet.${paper}`)}</option>`)}</select>
                </label>
                <label>
                    ${t("sheet.columns")}
                    <select name="columns">
                        ${COLUMNS.map(count => html`<option key=${count} value=${count} selected=${count === USUAL_COLUMNS}>${count}</option>`)}
                    </select>
                </label>
            </div>`}
            <div class="actions"><${Submit} sending=${sending} label=${t("sheet.download")} /></div>
        </form>
    `;
}
