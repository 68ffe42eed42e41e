/** The UTM templates of the workspace: values for the campaign parameters of links, and the only ones that they may have. */
import { lacks, may } from "../../core/account.js";
import { html, useSignal } from "../../core/html.js";
import { loadStyle } from "../../core/styles.js";
import { isolated, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { UTM_KEYS } from "../../core/utm.js";
import { Confirmation } from "../../parts/confirmation.js";
import { Pending, useLoaded } from "../../parts/loaded.js";
import { AccountHeading } from "../account/sections.js";
import { changeTemplate, createTemplate, deleteTemplate, listTemplates } from "./endpoints.js";
import { TemplateForm } from "./form.js";

/** @typedef {import("./endpoints.js").UtmTemplate} UtmTemplate */
/** @typedef {import("./endpoints.js").Content} Content */

await loadStyle("pages/utm/utm.css");

export function Page() {
    const loaded = useLoaded(listTemplates);
    /** How many this page has created: each begins with an empty form. */
    const created = useSignal(0);
    /** @param {Content} content @param {string} idempotencyKey */
    const create = async (content, idempotencyKey) => {
        await createTemplate(content, idempotencyKey);
        toast(t("templates.saved", { name: isolated(content.name) }));
        created.value++;
        await loaded.refresh();
    };
    return html`
        <${AccountHeading} title=${t("templates.title")} />
        <div class="body">
            <p>${t("templates.text")} ${lacks("editor") && t("templates.viewer")}</p>
            <${Pending} of=${loaded} />
            ${loaded.value?.length === 0 && html`<p>${t("templates.none")}</p>`}
            <ul class="cards">
                ${loaded.value?.map(template => html`<${Row} key=${template._id} template=${template} onChange=${loaded.refresh} />`)}
            </ul>
            ${may("editor") &&
            html`<section aria-labelledby="new-template">
                <h2 id="new-template">${t("templates.new")}</h2>
                <${TemplateForm} key=${created.value} label=${t("templates.create")} onSave=${create} />
            </section>`}
        </div>
    `;
}

/** @param {{template: UtmTemplate, onChange: () => Promise<void>}} properties */
function Row({ template, onChange }) {
    const isEdited = useSignal(false);
    const { _id: id, name, values, allowedValues } = template;
    /** @param {Content} content */
    const save = async content => {
        await changeTemplate(id, content);
        isEdited.value = false;
        toast(t("templates.saved", { name: isolated(content.name) }));
        await onChange();
    };
    const remove = async () => {
        await deleteTemplate(id);
        toast(t("templates.deleted", { name: isolated(name) }));
        await onChange();
    };
    return html`
        <li data-template=${id}>
            <div>
                <strong dir="auto">${name}</strong>
                ${UTM_KEYS.filter(key => values[key] || allowedValues[key]).map(
                    key => html`
                        <small key=${key} dir="auto">
                            ${t(`utm.${key}`)}: ${values[key] ?? "–"}
                            ${allowedValues[key] && ` (${t("templates.only", { values: allowedValues[key].join(", ") })})`}
                        </small>
                    `,
                )}
            </div>
            ${may("editor") &&
            html`<button
                    type="button"
                    aria-label=${t("templates.changeOne", { name })}
                    aria-expanded=${isEdited.value ? "true" : "false"}
                    onClick=${() => (isEdited.value = !isEdited.value)}
                >
                    ${t("templates.change")}
                </button>
                <${Confirmation}
                    label=${t("templates.delete")}
                    about=${t("templates.deleteOne", { name })}
                    question=${t("templates.deleteQuestion")}
                    action=${remove}
                />`}
            ${isEdited.value && html`<${TemplateForm} of=${template} label=${t("account.save")} onSave=${save} />`}
        </li>
    `;
}
