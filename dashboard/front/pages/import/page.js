/** Import: choose a file, check the result of each row in a dry run, and import it. */
import { lacks } from "../../core/account.js";
import { html, signal, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Head, toLinks } from "../../parts/head.js";
import { Icon } from "../../parts/icon.js";
import { Choosing } from "./choosing.js";
import { textOf } from "./file.js";
import { Progress } from "./progress.js";
import { Results } from "./results.js";
import { Run } from "./run.js";

/** Outside the component, so that the import continues on other pages of the dashboard. */
const current = signal(/** @type {Run | null} */ (null));

/** @param {BeforeUnloadEvent} event */
function warn(event) {
    if (current.value?.isHalfDone) event.preventDefault();
}
addEventListener("beforeunload", warn);

export function Page() {
    const problem = useSignal("");
    /** @param {File} file */
    const open = async file => {
        problem.value = "";
        try {
            const { text, encoding } = await textOf(file);
            const run = new Run(file.name, text, encoding);
            current.value = run;
            await run.check();
        } catch (error) {
            problem.value = error instanceof Error ? error.message : String(error);
        }
    };
    const run = current.value;
    return html`
        <${Head} title=${t("import.title")} back=${toLinks()} />
        <div class="body">
        <p>${t("import.text")}</p>
        ${lacks("editor")
            ? html`<p class="note warn"><${Icon} name="lock" />${t("import.readOnly")}</p>`
            : !run?.isHalfDone && html`<${Choosing} onFile=${open} problem=${problem.value} />`}
        ${run !== null && html`<${Progress} key=${run} run=${run} />`}
        ${run !== null && html`<${Results} key=${run} run=${run} />`}
        </div>
    `;
}
