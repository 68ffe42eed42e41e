/** The name, the values and the rules of a UTM template. */
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { UTM_KEYS, typedUtm } from "../../core/utm.js";
import { Chips } from "../../parts/chips.js";
import { Input, Submit } from "../../parts/input.js";
import { Sending } from "../../parts/sending.js";

/**
 * @param {object} properties
 * @param {import("./endpoints.js").UtmTemplate} [properties.of] none: a new template
 * @param {string} properties.label of the button
 * @param {(content: import("./endpoints.js").Content, idempotencyKey: string) => Promise<void>} properties.onSave
 */
export function TemplateForm({ of: template, label, onSave }) {
    const name = useSignal(template?.name ?? "");
    const values = useSignal(/** @type {Record<string, string>} */ ({ ...template?.values }));
    const allowed = useSignal(/** @type {Record<string, string[]>} */ ({ ...template?.allowedValues }));
    const sending = useMemo(() => new Sending(), []);
    const prefix = template?._id ?? "new";
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        return sending.run(() => {
            const content = { name: name.value, values: typedUtm(values.value) ?? {}, allowedValues: allowed.value };
            return onSave(content, sending.idempotencyKey);
        });
    };
    return html`
        <form class="template" onSubmit=${submit}>
            <div class="narrow">
                <${Input} sending=${sending} name="name" label=${t("templates.name")} value=${name} required maxlength="60" dir="auto" autocomplete="off" />
            </div>
            ${UTM_KEYS.map(
                key => html`
                    <div key=${key} class="grid">
                        <div class="field">
                            <label>
                                ${t(`utm.${key}`)}
                                <input
                                    name=${`values.${key}`}
                                    maxlength="200"
                                    dir="auto"
                                    value=${values.value[key] ?? ""}
                                    aria-invalid=${sending.errors.value[`values.${key}`] ? "true" : undefined}
                                    onInput=${(/** @type {any} */ event) => (values.value = { ...values.value, [key]: event.target.value })}
                                />
                            </label>
                            ${sending.errors.value[`values.${key}`] &&
                            html`<small class="error" role="alert">${sending.errors.value[`values.${key}`]}</small>`}
                        </div>
                        <${Chips}
                            name=${`${prefix}-allowed-${key}`}
                            label=${t("templates.allowed", { parameter: t(`utm.${key}`) })}
                            values=${allowed.value[key] ?? []}
                            placeholder=${t("templates.any")}
                            error=${sending.errors.value[`allowedValues.${key}`]}
                            onChange=${(/** @type {string[]} */ next) => (allowed.value = { ...allowed.value, [key]: next })}
                        />
                    </div>
                `,
            )}
            <${Submit} sending=${sending} fields=${["name", ...UTM_KEYS.flatMap(key => [`values.${key}`, `allowedValues.${key}`])]} label=${label} />
        </form>
    `;
}
