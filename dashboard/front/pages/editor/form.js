import { html, useEffect } from "../../core/html.js";
import { navigate } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Bookmarklet } from "../../parts/bookmarklet.js";
import { Code } from "./code.js";
import { Conflict } from "./conflict.js";
import { Field, Input, Section, Switch } from "./inputs.js";
import { Limits } from "./limits.js";
import { finalAddress, REFERRER_POLICIES } from "./model.js";
import { QrCodes } from "./qr.js";
import { Rules } from "./rules.js";
import { Simulation } from "./simulation.js";
import { Split } from "./split.js";
import { Summary } from "./summary.js";
import { Utm } from "./utm.js";

/** @typedef {import("./editing.js").Editing} Editing */

/** @param {{editing: Editing}} properties */
export function Form({ editing }) {
    const { id } = editing;
    const isNew = id === null;
    /** @param {{overwrites?: boolean}} [options] */
    const save = async options => {
        const saved = await editing.save(options);
        if (saved === null) return;
        toast(t(isNew ? "editor.created" : "editor.saved"));
        if (isNew) navigate(`/dashboard/links/${saved}`, { replace: true });
    };
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        save();
    };
    return html`
        <h1>${t(isNew ? "editor.new" : "editor.edit")}</h1>
        ${!isNew && html`<${Summary} editing=${editing} />`}
        <${Conflict} editing=${editing} onOverwrite=${() => save({ overwrites: true })} />
        <form class="editor" onSubmit=${submit}>
            <${Destination} editing=${editing} />
            <${Naming} editing=${editing} />
            <${Utm} editing=${editing} />
            <${Times} editing=${editing} />
            <${Limits} editing=${editing} />
            <${Rules} editing=${editing} />
            <${Split} editing=${editing} />
            <${Card} editing=${editing} />
            <${Redirect} editing=${editing} />
            <${Errors} editing=${editing} />
            <div class="actions">
                <button type="submit" aria-busy=${editing.isSaving.value} disabled=${editing.isSaving.value}>
                    ${t(isNew ? "editor.create" : "editor.save")}
                </button>
                ${editing.isChanged &&
                html`<button type="button" class="secondary" onClick=${() => editing.reset()}>${t("editor.reset")}</button>`}
            </div>
        </form>
        ${isNew &&
        html`<details>
            <summary>${t("bookmarklet.title")}</summary>
            <${Bookmarklet} />
        </details>`}
        ${!isNew && html`<${QrCodes} id=${id} />`} ${!isNew && html`<${Simulation} id=${id} />`}
    `;
}

/** @param {{editing: Editing}} properties */
function Destination({ editing }) {
    useEffect(() => {
        if (editing.id === null) document.getElementsByName("originalUrl")[0]?.focus();
    }, []);
    if (editing.id === null) {
        const address = { type: "url", required: true, placeholder: "https://", inputmode: "url" };
        return html`<${Field} editing=${editing} name="originalUrl" label=${t("field.originalUrl")} ...${address} />`;
    }
    const { originalUrl } = editing.fields.value;
    return html`<${Field}
        editing=${editing}
        name="targetUrl"
        type="url"
        label=${t("field.targetUrl")}
        placeholder=${originalUrl}
        hint=${t("hint.targetUrl", { address: originalUrl })}
    />`;
}

/** @param {{editing: Editing}} properties */
function Naming({ editing }) {
    const { customCode, title, description, tags, isActive } = editing.fields.value;
    const { errors } = editing;
    const isOpen = Boolean(customCode || title || description || tags || !isActive || errors.value.customCode);
    return html`
        <${Section} title=${t("section.naming")} isOpen=${isOpen}>
            <${Code} editing=${editing} />
            <${Field} editing=${editing} name="title" label=${t("field.title")} maxlength="200" dir="auto" />
            <${Field} editing=${editing} name="description" label=${t("field.description")} maxlength="500" dir="auto" />
            <${Field} editing=${editing} name="tags" label=${t("field.tags")} hint=${t("hint.tags")} dir="auto" />
            <${Switch} editing=${editing} name="isActive" label=${t("field.isActive")} />
        <//>
    `;
}

/** @param {{editing: Editing}} properties */
function Times({ editing }) {
    const { startsAt, expiresAt, notStartedUrl, expiredUrl } = editing.fields.value;
    return html`
        <${Section} title=${t("section.times")} isOpen=${Boolean(startsAt || expiresAt || notStartedUrl || expiredUrl)}>
            <div class="grid">
                <${Field} editing=${editing} name="startsAt" type="datetime-local" label=${t("field.startsAt")} />
                <${Field} editing=${editing} name="notStartedUrl" type="url" label=${t("field.notStartedUrl")} />
            </div>
            <div class="grid">
                <${Field} editing=${editing} name="expiresAt" type="datetime-local" label=${t("field.expiresAt")} />
                <${Field} editing=${editing} name="expiredUrl" type="url" label=${t("field.expiredUrl")} />
            </div>
        <//>
    `;
}

/**
 * The card that messengers show instead of that of the destination.
 * @param {{editing: Editing}} properties
 */
function Card({ editing }) {
    const { preview } = editing.fields.value;
    const lengths = { title: 200, description: 500, imageUrl: 2048 };
    return html`
        <${Section} title=${t("section.preview")} isOpen=${Object.values(preview).some(Boolean)}>
            <p>${t("preview.text")}</p>
            ${(/** @type {(keyof typeof lengths)[]} */ (Object.keys(lengths))).map(
                name => html`
                    <${Input}
                        key=${name}
                        name=${`preview.${name}`}
                        type=${name === "imageUrl" ? "url" : "text"}
                        maxlength=${lengths[name]}
                        dir=${name === "imageUrl" ? "ltr" : "auto"}
                        label=${t(`preview.${name}`)}
                        value=${preview[name]}
                        error=${editing.errors.value[`preview.${name}`]}
                        onValue=${(/** @type {string} */ value) => editing.change({ preview: { ...preview, [name]: value } })}
                    />
                `,
            )}
        <//>
    `;
}

/** @param {{editing: Editing}} properties */
function Redirect({ editing }) {
    const { redirectType, forwardQuery, referrerPolicy } = editing.fields.value;
    const address = finalAddress(editing.fields.value);
    return html`
        <${Section} title=${t("section.redirect")} isOpen=${redirectType !== "302" || forwardQuery || referrerPolicy !== ""}>
            <label>
                ${t("field.redirectType")}
                <select
                    name="redirectType"
                    value=${redirectType}
                    onChange=${(/** @type {any} */ event) => editing.change({ redirectType: event.target.value })}
                >
                    <option value="302">${t("redirect.302")}</option>
                    <option value="301">${t("redirect.301")}</option>
                </select>
            </label>
            <${Switch} editing=${editing} name="forwardQuery" label=${t("field.forwardQuery")} />
            <label>
                ${t("field.referrerPolicy")}
                <select
                    name="referrerPolicy"
                    value=${referrerPolicy}
                    onChange=${(/** @type {any} */ event) => editing.change({ referrerPolicy: event.target.value })}
                >
                    <option value="">${t("referrerPolicy.none")}</option>
                    ${REFERRER_POLICIES.map(policy => html`<option key=${policy} value=${policy}>${t(`referrerPolicy.${policy}`)}</option>`)}
                </select>
            </label>
        <//>
        ${address !== null &&
        html`<p class="final">${t("editor.final")} <output name="final" dir="ltr">${address}</output></p>`}
    `;
}

/**
 * The messages that no field shows.
 * @param {{editing: Editing}} properties
 */
function Errors({ editing }) {
    const { preview, ...fields } = editing.fields.value;
    const own = [...Object.keys(fields), ...Object.keys(preview).map(name => `preview.${name}`)];
    const rest = Object.entries(editing.errors.value).filter(([name]) => !own.includes(name));
    if (rest.length === 0) return null;
    return html`
        <div role="alert" class="failure">
            ${rest.map(([name, message]) => html`<p key=${name}>${name ? `${name}: ` : ""}${message}</p>`)}
        </div>
    `;
}
