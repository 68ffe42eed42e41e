/** Import: choose a file, check the result of each row in a dry run, and import it. */
import { html, signal, useEffect, useSignal } from "../../core/html.js";
import { serviceName, t } from "../../core/texts.js";
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
    useEffect(() => {
        document.title = `${t("import.title")} · ${serviceName()}`;
    }, []);
    /** @param {File} file */
    const open = async file => {
        problem.value = "";
        try {
            const run = new Run(file.name, await textOf(file));
            current.value = run;
            await run.check();
        } catch (error) {
            problem.value = error instanceof Error ? error.message : String(error);
        }
    };
    const run = current.value;
    return html`
        <h1>${t("import.title")}</h1>
        <p>${t("import.text")}</p>
        ${!run?.isHalfDone && html`<${Choosing} onFile=${open} problem=${problem.value} />`}
        ${run !== null && html`<${Progress} key=${run} run=${run} />`}
        ${run !== null && html`<${Results} key=${run} run=${run} />`}
    `;
}
