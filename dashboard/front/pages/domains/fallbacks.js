/** The redirects of a domain for visitors whose request is not for an active link. */
import { withScheme } from "../../core/addresses.js";
import { dropDraft, keepDraft, readDraft } from "../../core/drafts.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { About } from "../../parts/about.js";
import { Sending } from "../../parts/sending.js";
import { changeDomain } from "./endpoints.js";

const NAMES = /** @type {const} */ (["rootUrl", "notFoundUrl", "expiredUrl"]);

/** @typedef {Record<typeof NAMES[number], string>} Fields */

/**
 * @param {import("./endpoints.js").Domain} domain
 * @returns {Fields}
 */
const fieldsOf = ({ rootUrl, notFoundUrl, expiredUrl }) => ({
    rootUrl: rootUrl ?? "",
    notFoundUrl: notFoundUrl ?? "",
    expiredUrl: expiredUrl ?? "",
});

/**
 * @param {Fields} fields
 * @param {Fields} before
 * @returns {Partial<Fields>}
 */
const changesOf = (fields, before) =>
    Object.fromEntries(NAMES.map(name => [name, withScheme(fields[name])]).filter(([name, value]) => value !== Reflect.get(before, name)));

/** @param {{domain: import("./endpoints.js").Domain}} properties */
export function Fallbacks({ domain }) {
    const draft = `domain.${domain._id}`;
    const before = useSignal(fieldsOf(domain));
    const fields = useSignal(/** @type {Fields} */ ({ ...before.value, ...readDraft(draft) }));
    const sending = useMemo(() => new Sending(), []);
    const errors = sending.errors.value;
    const isSaving = sending.isBusy.value;
    const changed = changesOf(fields.value, before.value);
    /** @param {Partial<Fields>} changes */
    const change = changes => {
        fields.value = { ...fields.value, ...changes };
        keepDraft(draft, changesOf(fields.value, before.value));
    };
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        sending.run(async () => {
            const sent = Object.fromEntries(Object.entries(changed).map(([name, value]) => [name, value || null]));
            before.value = fieldsOf(await changeDomain(domain._id, sent));
            fields.value = before.value;
            dropDraft(draft);
            toast(t("fallbacks.saved"));
        });
    };
    return html`
        <h3>${t("fallbacks.title")}</h3>
        <form onSubmit=${submit}>
            ${NAMES.map(
                name => html`
                    <div key=${name}>
                        <label>
                            ${t(`fallbacks.${name}`)}
                            <input
                                name=${name}
                                inputmode="url"
                                dir="ltr"
                                placeholder="https://"
                                value=${fields.value[name]}
                                aria-invalid=${errors[name] ? "true" : undefined}
                                aria-describedby=${`${domain._id}-${name}`}
                                onInput=${(/** @type {any} */ event) => change({ [name]: event.target.value })}
                            />
                        </label>
                        <${About} id=${`${domain._id}-${name}`} error=${errors[name]} hint=${t(`fallbacks.${name}Hint`)} />
                    </div>
                `,
            )}
            ${errors[""] && html`<p role="alert" class="failure">${errors[""]}</p>`}
            <button type="submit"  aria-busy=${isSaving} disabled=${isSaving || Object.keys(changed).length === 0}>
                ${t("fallbacks.save")}
            </button>
        </form>
    `;
}
