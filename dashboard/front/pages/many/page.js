/** Many new links from a pasted list, with the same tags and campaign. Lines that the API refuses stay in the field. */
import { availableDomains, createLinks } from "../../core/endpoints.js";
import { inOwnLanguage } from "../../core/api.js";
import { copy } from "../../core/clipboard.js";
import { useDraft } from "../../core/drafts.js";
import { report } from "../../core/failures.js";
import { html, useEffect, useMemo, useRef, useSignal } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { refusalText, t } from "../../core/texts.js";
import { About } from "../../parts/about.js";
import { Head, toLinks } from "../../parts/head.js";
import { Icon } from "../../parts/icon.js";
import { Sending } from "../../parts/sending.js";
import { Sign } from "../../parts/sign.js";
import { TagsInput } from "../../parts/tags_input.js";
import { UtmInputs } from "../../parts/utm_inputs.js";
import { TemplateChoice, useTemplates } from "../utm/choice.js";
import { MOST_LINES, bodyOf, linesOf, refusalsOf } from "./lines.js";

/** @typedef {import("./lines.js").Line} Line */
/** @typedef {{line: Line, messages: string[]}} Refusal */
/** @typedef {{_id: string, shortUrl: string, originalUrl: string}} NewLink */

export function Page() {
    const pasted = useDraft("many");
    const domains = useSignal(/** @type {import("../../core/endpoints.js").Domains} */ ([]));
    const domainId = useSignal("");
    const tags = useSignal(/** @type {string[]} */ ([]));
    const utm = useSignal(/** @type {Record<string, string>} */ ({}));
    const templates = useTemplates();
    const template = useSignal(/** @type {import("../utm/choice.js").UtmTemplate | undefined} */ (undefined));
    const made = useSignal(/** @type {NewLink[]} */ ([]));
    const refused = useSignal(/** @type {Refusal[]} */ ([]));
    /** What the API refused in the fields of all links. */
    const refusedTogether = useSignal(/** @type {Record<string, string>} */ ({}));
    const sending = useMemo(() => new Sending(), []);
    useEffect(() => {
        availableDomains().then(available => (domains.value = available), report);
    }, []);
    const lines = linesOf(pasted.value);
    const isTooLong = lines.length > MOST_LINES;
    const send = () =>
        sending.run(async () => {
            const utmTemplateId = template.value?._id ?? "";
            const body = bodyOf(lines, { domainId: domainId.value, tags: tags.value, utmTemplateId, utm: utm.value });
            const { results } = await createLinks(body, sending.idempotencyKey);
            const created = results.flatMap(({ success, url }) => (success && url ? [url] : []));
            made.value = [...made.value, ...created];
            const told = results.map(({ errors, ...result }) => ({ ...result, errors: inOwnLanguage(errors), message: refusalText(result) }));
            const refusals = refusalsOf(told);
            refused.value = refusals.lines.map(({ index, messages }) => ({ line: lines[index], messages }));
            refusedTogether.value = Object.fromEntries(refusals.shared.map(error => [error.field, error.message]));
            pasted.value = results.flatMap(({ success, index }) => (success ? [] : lines[index].text)).join("\n");
        });
    /** @param {import("../utm/choice.js").UtmTemplate | undefined} chosen */
    const choose = chosen => {
        template.value = chosen;
        utm.value = { ...utm.value, ...chosen?.values };
    };
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        if (lines.length > 0 && !isTooLong) send();
    };
    return html`
        <${Head} title=${t("many.title")} back=${toLinks()} />
        <div class="body">
            <${Made} links=${made.value} />
            <${Refused} refusals=${refused.value} />
            <form class="many" onSubmit=${submit}>
                <label>
                    ${t("many.lines")}
                    <textarea
                        name="lines"
                        rows="8"
                        required
                        dir="ltr"
                        wrap="off"
                        autocapitalize="none"
                        spellcheck=${false}
                        placeholder=${"example.com/spring\nexample.com/summer"}
                        aria-describedby="lines-about"
                        value=${pasted.value}
                        onInput=${(/** @type {any} */ event) => (pasted.value = event.target.value)}
                    ></textarea>
                    <small id="lines-about" class=${isTooLong ? "error" : undefined}>
                        ${isTooLong ? t("many.tooLong", { count: lines.length, most: MOST_LINES }) : t("many.hint")}
                    </small>
                </label>
                <div class="grid pair">
                    ${domains.value.length > 1 &&
                    html`<label>
                        ${t("field.domainId")}
                        <select name="domainId" onChange=${(/** @type {any} */ event) => (domainId.value = event.target.value)}>
                            ${domains.value.map(({ id, fullDomain }) => html`<option value=${id} selected=${id === domainId.value}>${fullDomain}</option>`)}
                        </select>
                    </label>`}
                    <${TagsInput}
                        name="tags"
                        label=${t("field.tags")}
                        values=${tags.value}
                        error=${errorIn(refusedTogether.value, "tags")}
                        onChange=${(/** @type {string[]} */ next) => (tags.value = next)}
                    />
                </div>
                <fieldset>
                    <legend>${t("section.utm")}</legend>
                    <${TemplateChoice} templates=${templates} chosen=${template.value?._id ?? ""} onChange=${choose} />
                    <${About} id="template-about" error=${refusedTogether.value.utmTemplateId} />
                    <${UtmInputs} utm=${utm.value} template=${template.value} errors=${refusedTogether.value} onChange=${(/** @type {Record<string, string>} */ next) => (utm.value = next)} />
                </fieldset>
                ${Object.values(sending.errors.value).map(message => html`<p role="alert" class="failure">${message}</p>`)}
                <div class="actions">
                    <button type="submit" class="primary" aria-busy=${sending.isBusy.value} disabled=${sending.isBusy.value || isTooLong}>
                        ${lines.length === 0 ? t("many.createNone") : t("many.create", { count: lines.length })}
                    </button>
                </div>
            </form>
        </div>
    `;
}

/**
 * The message about a field, or about one of its values.
 * @param {Record<string, string>} errors
 * @param {string} name
 */
const errorIn = (errors, name) => Object.entries(errors).find(([field]) => field === name || field.startsWith(`${name}.`))?.[1];

/** @param {{links: NewLink[]}} properties */
function Made({ links }) {
    const heading = useRef(/** @type {HTMLElement | null} */ (null));
    // On a phone, the button that created them is far below.
    useEffect(() => heading.current?.scrollIntoView({ block: "center" }), [links.length]);
    if (links.length === 0) return null;
    return html`
        <section aria-label=${t("many.made", { count: links.length })}>
            <h2 ref=${heading} role="status">${t("many.made", { count: links.length })}</h2>
            <div class="actions">
                <button onClick=${() => copy(links.map(({ shortUrl }) => shortUrl).join("\n"))}>
                    <${Icon} name="copy" />${t("many.copyShort")}
                </button>
                <button onClick=${() => copy(links.map(({ originalUrl, shortUrl }) => `${originalUrl}\t${shortUrl}`).join("\n"))}>
                    <${Icon} name="copy" />${t("many.copyBoth")}
                </button>
                <a role="button" class="quiet" href="/dashboard/">${t("many.show")}</a>
            </div>
            <ul class="made">
                ${links.map(
                    ({ _id, shortUrl, originalUrl }) => html`
                        <li key=${_id}>
                            <${Sign} address=${shortUrl} isLink />
                            <span class="cut url">${withoutScheme(originalUrl)}</span>
                        </li>
                    `,
                )}
            </ul>
        </section>
    `;
}

/** @param {{refusals: Refusal[]}} properties */
function Refused({ refusals }) {
    if (refusals.length === 0) return null;
    return html`
        <section role="alert" class="note warn">
            <${Icon} name="triangle-alert" />
            <div>
                <p>${t("many.refused", { count: refusals.length })}</p>
                <ul>
                    ${refusals.map(({ line, messages }, at) => html`<li key=${at}><span class="url">${line.text}</span>: ${messages.join(" ")}</li>`)}
                </ul>
            </div>
        </section>
    `;
}
