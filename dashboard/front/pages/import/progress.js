/** The progress of an import, and the next step. */
import { availableDomains } from "../../core/endpoints.js";
import { report } from "../../core/failures.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { save } from "../../core/saving.js";
import { isolated, t } from "../../core/texts.js";
import { TemplateChoice, useTemplates } from "../utm/choice.js";
import { Columns } from "./columns.js";

/** @typedef {import("./run.js").Run} Run */

/** @param {{run: Run}} properties */
export function Progress({ run }) {
    const phase = run.phase.value;
    return html`
        <section class="import" data-phase=${phase} aria-label=${t("import.progress")}>
            <h2><bdi>${run.name}</bdi></h2>
            ${run.encoding !== "utf-8" && html`<p class="note warn">${t("import.encoding", { encoding: run.encoding })}</p>`}
            ${run.isUnmapped.value ? html`<${Columns} run=${run} />` : html`<p role="status">${summary(run)}</p>`}
            ${phase === "checking" && html`<progress aria-label=${t("import.progress")}></progress>`}
            ${run.isHalfDone &&
            html`<progress
                aria-label=${t("import.progress")}
                value=${run.table.isWhole ? undefined : run.imported.value}
                max=${run.accepted}
            ></progress>`}
            ${run.problem.value && html`<p role="alert" class="failure">${run.problem.value}</p>`}
            ${(phase === "checked" || phase === "done") && html`<${Losses} run=${run} />`}
            ${!run.isHalfDone && phase !== "done" && !run.isUnmapped.value && html`<${Shared} run=${run} />`}
            ${!run.isUnmapped.value && html`<div class="actions"><${Actions} run=${run} /><${Rejected} run=${run} /></div>`}
        </section>
    `;
}

/** What the links do not keep: their host, and what has no counterpart here. @param {{run: Run}} properties */
function Losses({ run }) {
    const { losses } = run;
    const changes = run.hostChanges.value;
    if (losses.length === 0 && changes.length === 0) return null;
    return html`
        <div class="note warn" data-part="losses">
            <div>
                ${changes.map(
                    ({ from, to, links }) => html`
                        <p key=${`${from} ${to}`}>
                            ${t("import.hostChange", { count: links, from: isolated(from), to: isolated(to) })}
                        </p>
                    `,
                )}
                ${losses.length > 0 &&
                html`
                    <p>${t("import.losses")}</p>
                    <ul>
                        ${losses.map(
                            ({ field, message, count }) => html`
                                <li key=${`${field} ${message}`}>
                                    <b dir="auto">${field}</b> (${t("import.rows", { count })}): <span dir="auto">${message}</span>
                                </li>
                            `,
                        )}
                    </ul>
                `}
            </div>
        </div>
    `;
}

/** The rejected rows, to correct them and to import the file again. @param {{run: Run}} properties */
function Rejected({ run }) {
    const phase = run.phase.value;
    const content = phase === "checked" || phase === "done" ? run.rejected : null;
    if (content === null) return null;
    const isCsv = run.table.head !== undefined;
    const [, stem = run.name, extension = isCsv ? "csv" : "json"] = /^(.*)\.([^.]+)$/.exec(run.name) ?? [];
    const type = isCsv ? "text/csv" : "application/json";
    return html`
        <button
            type="button"
            onClick=${() => save({ name: `${stem}-${t("import.rejectedFile")}.${extension}`, content: new Blob([content], { type }) })}
        >
            ${t("import.downloadRejected")}
        </button>
    `;
}

/** @param {Run} run */
function summary(run) {
    const { accepted, imported, results } = run;
    const total = results.value.length;
    switch (run.phase.value) {
        case "checking":
            return t("import.checking");
        case "unchecked":
            return t("import.unchecked");
        case "checked":
            return t("import.checked", { count: total, accepted, rejected: total - accepted });
        case "applying":
            return t(run.isStopping.value ? "import.stopping" : "import.applying", { imported: imported.value, accepted });
        case "paused":
            return t("import.paused", { imported: imported.value, accepted });
        case "done":
            return t("import.done", { count: imported.value, rejected: total - imported.value });
    }
}

/** @param {{run: Run}} properties */
function Actions({ run }) {
    switch (run.phase.value) {
        case "unchecked":
            return html`<button onClick=${() => run.check()}>${t("import.checkAgain")}</button>`;
        case "checked":
            if (run.accepted === 0) return null;
            return html`<button onClick=${() => run.apply()}>${t("import.apply", { count: run.accepted })}</button>`;
        case "applying":
            return html`<button disabled=${run.isStopping.value} onClick=${() => run.stop()}>${t("import.stop")}</button>`;
        case "paused":
            return html`<button onClick=${() => run.apply()}>${t("import.continue")}</button>`;
        case "done":
            return html`<a role="button" href="/dashboard/">${t("import.show")}</a>`;
        default:
            return null;
    }
}

/** What all links of the file get. @param {{run: Run}} properties */
function Shared({ run }) {
    const templates = useTemplates();
    /** @param {import("../utm/choice.js").UtmTemplate | undefined} template */
    const choose = template => {
        run.template.value = template;
        run.check();
    };
    return html`
        <div class="grid">
            <${Domain} run=${run} />
            <${TemplateChoice} templates=${templates} chosen=${run.template.value?._id ?? ""} onChange=${choose} />
        </div>
    `;
}

/** @param {{run: Run}} properties */
function Domain({ run }) {
    const domains = useSignal(/** @type {import("../../core/endpoints.js").Domains} */ ([]));
    useEffect(() => {
        availableDomains().then(listed => (domains.value = listed), report);
    }, []);
    return html`
        <label>
            ${t("import.domain")}
            <select
                name="domainId"
                value=${run.domainId.value}
                onChange=${(/** @type {any} */ event) => {
                    run.domainId.value = event.target.value;
                    run.check();
                }}
            >
                <option value="">${t("import.ownDomain")}</option>
                ${domains.value.map(({ id, fullDomain }) => html`<option key=${id} value=${id}>${fullDomain}</option>`)}
            </select>
        </label>
    `;
}
