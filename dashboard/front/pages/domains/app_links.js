/** The apps that open the links of a domain on phones: what its two files under `/.well-known/` say. */
import { dropDraft, keepDraft, readDraft } from "../../core/drafts.js";
import { html, useMemo, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { About } from "../../parts/about.js";
import { Sending } from "../../parts/sending.js";
import { Input } from "../editor/inputs.js";
import { changeDomain } from "./endpoints.js";

const MAX_APPS = 10;

/**
 * Lists are texts with a line for each entry.
 * @typedef {import("./endpoints.js").Domain["appLinks"]} Apps
 * @typedef {{packageName: string, fingerprints: string}} AndroidApp
 * @typedef {{appIds: string, paths: string, excludedPaths: string, android: AndroidApp[]}} Fields
 */

/** @param {string} text */
const linesOf = text =>
    text
        .split("\n")
        .map(line => line.trim())
        .filter(Boolean);

/**
 * @param {Apps} apps
 * @returns {Fields}
 */
export const fieldsOf = ({ apple, android }) => ({
    appIds: apple?.appIds.join("\n") ?? "",
    paths: apple?.paths.join("\n") ?? "",
    excludedPaths: apple?.excludedPaths.join("\n") ?? "",
    android: android.map(({ packageName, fingerprints }) => ({ packageName, fingerprints: fingerprints.join("\n") })),
});

/**
 * What the API gets. Apps without any text are left out; paths stay at the API's default.
 * @param {Fields} fields
 */
export const appsOf = ({ appIds, paths, excludedPaths, android }) => {
    const [ids, shown, hidden] = [linesOf(appIds), linesOf(paths), linesOf(excludedPaths)];
    const isEmpty = ids.length + shown.length + hidden.length === 0;
    return {
        apple: isEmpty ? null : { appIds: ids, excludedPaths: hidden, ...(shown.length > 0 ? { paths: shown } : {}) },
        android: android.filter(isFilled).map(app => ({ packageName: app.packageName.trim(), fingerprints: linesOf(app.fingerprints) })),
    };
};

/** @param {AndroidApp} app */
const isFilled = ({ packageName, fingerprints }) => packageName.trim() !== "" || fingerprints.trim() !== "";

/** The first message about a field or about one of its lines. @param {Record<string, string>} errors @param {string} path */
const errorAt = (errors, path) => {
    const wrong = Object.keys(errors).find(field => field === path || field.startsWith(`${path}.`));
    if (wrong === undefined) return undefined;
    const line = wrong.slice(path.length + 1);
    return line === "" ? errors[wrong] : t("apps.line", { line: Number(line) + 1, message: errors[wrong] ?? "" });
};

/** @param {Record<string, any>} properties */
const Lines = ({ name, label, hint, error, value, onValue, placeholder }) => html`
    <div class="field">
        <label>
            ${label}
            <textarea
                name=${name}
                dir="ltr"
                rows="2"
                spellcheck=${false}
                autocapitalize="none"
                placeholder=${placeholder}
                value=${value}
                aria-invalid=${error === undefined ? undefined : "true"}
                aria-describedby=${`${name}-about`}
                onInput=${(/** @type {any} */ event) => onValue(event.target.value)}
            ></textarea>
        </label>
        <${About} id=${`${name}-about`} error=${error} hint=${hint} />
    </div>
`;

/** @param {{domain: import("./endpoints.js").Domain}} properties */
export function AppLinks({ domain }) {
    const draft = `domain.apps.${domain._id}`;
    const before = useSignal(fieldsOf(domain.appLinks));
    const fields = useSignal(/** @type {Fields} */ ({ ...before.value, ...readDraft(draft) }));
    const sending = useMemo(() => new Sending(), []);
    const errors = sending.errors.value;
    const isSaving = sending.isBusy.value;
    const { android } = fields.value;
    const isChanged = JSON.stringify(appsOf(fields.value)) !== JSON.stringify(appsOf(before.value));
    /** @param {Partial<Fields>} changes */
    const change = changes => {
        fields.value = { ...fields.value, ...changes };
        keepDraft(draft, fields.value);
    };
    /** @param {number} index @param {Partial<AndroidApp>} changes */
    const changeApp = (index, changes) =>
        change({ android: android.map((app, place) => (place === index ? { ...app, ...changes } : app)) });
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        // Messages name the places of the apps that are sent.
        change({ android: android.filter(isFilled) });
        sending.run(async () => {
            before.value = fieldsOf((await changeDomain(domain._id, { appLinks: appsOf(fields.value) })).appLinks);
            fields.value = before.value;
            dropDraft(draft);
            toast(t("apps.saved"));
        });
    };
    const id = domain._id;
    return html`
        <h3>${t("apps.heading")}</h3>
        <p>${t("apps.explanation")}</p>
        <form onSubmit=${submit}>
            ${/** @type {const} */ (["appIds", "paths", "excludedPaths"]).map(
                name => html`
                    <${Lines}
                        key=${name}
                        name=${`${id}-${name}`}
                        label=${t(`apps.${name}`)}
                        hint=${t(`apps.${name}Hint`)}
                        placeholder=${{ appIds: "ABCDE12345.com.example.app", paths: "/*", excludedPaths: "/print-*" }[name]}
                        value=${fields.value[name]}
                        error=${errorAt(errors, `appLinks.apple.${name}`)}
                        onValue=${(/** @type {string} */ text) => change({ [name]: text })}
                    />
                `,
            )}
            ${android.map(
                (app, index) => html`
                    <fieldset key=${index}>
                        <legend>${t("apps.androidApp", { number: index + 1 })}</legend>
                        <${Input}
                            name=${`${id}-package-${index}`}
                            label=${t("apps.packageName")}
                            dir="ltr"
                            autocapitalize="none"
                            spellcheck=${false}
                            placeholder="com.example.app"
                            value=${app.packageName}
                            error=${errorAt(errors, `appLinks.android.${index}.packageName`)}
                            onValue=${(/** @type {string} */ packageName) => changeApp(index, { packageName })}
                        />
                        <${Lines}
                            name=${`${id}-fingerprints-${index}`}
                            label=${t("apps.fingerprints")}
                            hint=${t("apps.fingerprintsHint")}
                            placeholder="0F:A1:…"
                            value=${app.fingerprints}
                            error=${errorAt(errors, `appLinks.android.${index}.fingerprints`)}
                            onValue=${(/** @type {string} */ fingerprints) => changeApp(index, { fingerprints })}
                        />
                        <button type="button" onClick=${() => change({ android: android.filter((_, place) => place !== index) })}>
                            ${t("apps.remove")}
                        </button>
                    </fieldset>
                `,
            )}
            ${errors[""] && html`<p role="alert" class="failure">${errors[""]}</p>`}
            <div class="actions">
                <button
                    type="button"
                    disabled=${android.length >= MAX_APPS}
                    onClick=${() => change({ android: [...android, { packageName: "", fingerprints: "" }] })}
                >
                    ${t("apps.add")}
                </button>
                <button type="submit" aria-busy=${isSaving} disabled=${isSaving || !isChanged}>${t("apps.save")}</button>
            </div>
        </form>
    `;
}
