/** The area to drop or choose a file. */
import { html, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { About } from "../../parts/about.js";

/** @param {{onFile: (file: File) => void, problem: string}} properties */
export function Choosing({ onFile, problem }) {
    const isOver = useSignal(false);
    /** @param {FileList | null | undefined} files */
    const take = files => {
        if (files?.[0]) onFile(files[0]);
    };
    return html`
        <div
            class="drop"
            data-over=${isOver.value}
            onDragOver=${(/** @type {DragEvent} */ event) => {
                event.preventDefault();
                isOver.value = true;
            }}
            onDragLeave=${() => (isOver.value = false)}
            onDrop=${(/** @type {DragEvent} */ event) => {
                event.preventDefault();
                isOver.value = false;
                take(event.dataTransfer?.files);
            }}
        >
            <label>
                ${t("import.file")}
                <input
                    type="file"
                    name="file"
                    accept=".csv,.json,.jsonl,.ndjson,.txt,text/csv,application/json"
                    aria-describedby="import-about"
                    onChange=${(/** @type {any} */ event) => {
                        take(event.target.files);
                        // So that the same file can be chosen again after a correction.
                        event.target.value = "";
                    }}
                />
            </label>
            <${About} id="import-about" error=${problem} hint=${t("import.fileHint")} />
        </div>
    `;
}
