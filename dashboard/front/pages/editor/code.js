/** The code of the link. Checks its format as the user types, and whether another link of the workspace has it. */
import { availableDomains, listLinks } from "../../core/endpoints.js";
import { report } from "../../core/failures.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { About } from "../../parts/about.js";

const hasPunctuation = "codePunctuation" in document.documentElement.dataset;
const CODE = hasPunctuation ? /^[A-Za-z0-9][\w-]{2,49}$/ : /^[A-Za-z0-9]{3,50}$/;
const HINT = hasPunctuation ? "code.hintPunctuated" : "code.hint";
const KEPT = hasPunctuation ? "code.hintPunctuatedKept" : "code.hintKept";
const TYPING_MILLISECONDS = 300;

/** @typedef {import("../../core/texts.js").Key} Key */

/** @param {{editing: import("./editing.js").Editing}} properties */
export function Code({ editing }) {
    const domains = useSignal(/** @type {import("../../core/endpoints.js").Domains} */ ([]));
    const verdict = useSignal(/** @type {Key | null} */ (null));
    const { customCode, domainId } = editing.fields.value;
    const isUnchanged = customCode === editing.before.customCode && domainId === editing.before.domainId;
    const domain = domains.value.find(({ id }) => id === domainId);
    const address = domain?.shortUrl;
    useEffect(() => {
        availableDomains().then(available => (domains.value = available), report);
    }, []);
    useEffect(() => {
        verdict.value = null;
        if (customCode === "" || isUnchanged) return undefined;
        if (!CODE.test(customCode)) {
            verdict.value = hasPunctuation ? "code.malformedPunctuated" : "code.malformed";
            return undefined;
        }
        if (address === undefined) return undefined;
        const stopped = new AbortController();
        const timer = setTimeout(() => {
            const shortUrl = `${address}/${customCode}`;
            listLinks({ search: shortUrl, archived: "any", limit: 100 }, stopped.signal).then(
                ({ urls }) => {
                    verdict.value = urls.some(link => link.shortUrl === shortUrl) ? "code.yours" : "code.wellFormed";
                },
                () => {},
            );
        }, TYPING_MILLISECONDS);
        return () => {
            clearTimeout(timer);
            stopped.abort();
        };
    }, [customCode, address, isUnchanged]);
    const error = editing.errors.value.customCode;
    const isWrong = error !== undefined || verdict.value?.startsWith("code.malformed") || verdict.value === "code.yours";
    const isFree = verdict.value === "code.wellFormed" && error === undefined;
    return html`
        <div class="field">
            <div class="group">
                <label>
                    ${t("field.domainId")}
                    <select
                        value=${domainId}
                        disabled=${editing.id !== null}
                        onChange=${(/** @type {any} */ event) => editing.change({ domainId: event.target.value })}
                    >
                        ${domains.value.map(
                            ({ id, fullDomain }) => html`<option value=${id} selected=${id === domainId}>${fullDomain}</option>`,
                        )}
                    </select>
                </label>
                <label>
                    ${t("field.customCode")}
                    <input
                        name="customCode"
                        class="code"
                        value=${customCode}
                        autocomplete="off"
                        autocapitalize="none"
                        spellcheck=${false}
                        dir="ltr"
                        placeholder=${editing.link.value?.shortCode}
                        aria-invalid=${isWrong ? "true" : isFree ? "false" : undefined}
                        aria-describedby="code-about"
                        onInput=${(/** @type {any} */ event) => editing.change({ customCode: event.target.value })}
                    />
                </label>
            </div>
            <${About} id="code-about" error=${error} hint=${html`<span class=${isFree ? "good" : isWrong ? "failure" : undefined}>${t(verdict.value ?? (editing.id === null ? HINT : KEPT))}</span>`} />
        </div>
    `;
}
