/** The words of a domain's owner on the pages that visitors meet instead of a destination. */
import { dropDraft, keepDraft, readDraft } from "../../core/drafts.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { About } from "../../parts/about.js";
import { Sending } from "../../parts/sending.js";
import { Input } from "../editor/inputs.js";
import { changeDomain } from "./endpoints.js";

/**
 * @typedef {import("./endpoints.js").Domain["pages"]} Pages
 * @typedef {keyof Pages} Name
 * @typedef {{title: string, text: string}} Words
 * @typedef {Record<Name, Words>} Fields
 */

/**
 * @param {Pages} pages
 * @returns {Fields}
 */
const fieldsOf = pages =>
    /** @type {Fields} */ (
        Object.fromEntries(Object.entries(pages).map(([name, words]) => [name, { title: words?.title ?? "", text: words?.text ?? "" }]))
    );

/**
 * @param {Fields} fields
 * @param {Fields} before
 * @returns {Partial<Fields>}
 */
const changesOf = (fields, before) =>
    Object.fromEntries(
        Object.entries(fields).filter(([name, { title, text }]) => {
            const former = before[/** @type {Name} */ (name)];
            return former !== undefined && (title !== former.title || text !== former.text);
        }),
    );

/** @param {{domain: import("./endpoints.js").Domain}} properties */
export function PageWords({ domain }) {
    const draft = `domain.pages.${domain._id}`;
    const before = useSignal(fieldsOf(domain.pages));
    const fields = useSignal(/** @type {Fields} */ ({ ...before.value, ...readDraft(draft) }));
    const chosen = useSignal(/** @type {Name} */ ("notFound"));
    const sending = useMemo(() => new Sending(), []);
    const errors = sending.errors.value;
    const isSaving = sending.isBusy.value;
    const changed = changesOf(fields.value, before.value);
    const name = chosen.value;
    /** @param {Partial<Words>} words */
    const change = words => {
        fields.value = { ...fields.value, [name]: { ...fields.value[name], ...words } };
        keepDraft(draft, changesOf(fields.value, before.value));
    };
    /** @param {SubmitEvent} event */
    const submit = async event => {
        event.preventDefault();
        const isSaved = await sending.run(async () => {
            const pages = Object.fromEntries(
                Object.entries(changed).map(([page, { title, text }]) => [page, { title: title.trim() || null, text: text.trim() || null }]),
            );
            before.value = fieldsOf((await changeDomain(domain._id, { pages })).pages);
            fields.value = before.value;
            dropDraft(draft);
            toast(t("words.saved"));
        });
        const refused = Object.keys(sending.errors.value).find(path => path.startsWith("pages."))?.split(".")[1];
        if (!isSaved && refused !== undefined) chosen.value = /** @type {Name} */ (refused);
    };
    const about = `${domain._id}-words`;
    const wrong = errors[`pages.${name}.text`];
    return html`
        <h3>${t("words.heading")}</h3>
        <p>${t("words.explanation")}</p>
        <form onSubmit=${submit}>
            <label>
                ${t("words.page")}
                <select name="page" value=${name} onChange=${(/** @type {any} */ event) => (chosen.value = event.target.value)}>
                    ${Object.entries(fields.value).map(
                        ([page, { title, text }]) => html`
                            <option key=${page} value=${page}>
                                ${t(title || text ? "words.own" : "words.ours", { page: t(`words.${/** @type {Name} */ (page)}`) })}
                            </option>
                        `,
                    )}
                </select>
            </label>
            <${Input}
                name=${`${domain._id}-title`}
                label=${t("words.title")}
                hint=${t("words.hint")}
                dir="auto"
                maxlength="100"
                value=${fields.value[name].title}
                error=${errors[`pages.${name}.title`]}
                onValue=${(/** @type {string} */ title) => change({ title })}
            />
            <div class="field">
                <label>
                    ${t("words.text")}
                    <textarea
                        name=${`${domain._id}-text`}
                        dir="auto"
                        rows="3"
                        maxlength="500"
                        value=${fields.value[name].text}
                        aria-invalid=${wrong === undefined ? undefined : "true"}
                        aria-describedby=${about}
                        onInput=${(/** @type {any} */ event) => change({ text: event.target.value })}
                    ></textarea>
                </label>
                <${About} id=${about} error=${wrong} hint=${t("words.hint")} />
            </div>
            ${errors[""] && html`<p role="alert" class="failure">${errors[""]}</p>`}
            <button type="submit" aria-busy=${isSaving} disabled=${isSaving || Object.keys(changed).length === 0}>
                ${t("words.save")}
            </button>
        </form>
    `;
}
