/** What stays in view beside the form: the short link, its QR code, its card, and what a visitor gets. */
import { may } from "../../core/account.js";
import { copy } from "../../core/clipboard.js";
import { html, useSignal } from "../../core/html.js";
import { hostOf, withoutScheme } from "../../core/hues.js";
import { destinationOf } from "../../core/status.js";
import { t } from "../../core/texts.js";
import { Dialog } from "../../parts/dialog.js";
import { Icon } from "../../parts/icon.js";
import { LazyPage } from "../../parts/lazy.js";
import { Sign } from "../../parts/sign.js";
import { useDesign } from "./qr_design.js";
import { downloadDesign } from "./qr_files.js";

const loadPicture = () => import("./qr_picture.js").then(({ QrPicture }) => ({ Page: QrPicture }));
const loadSimulation = () => import("./simulation.js").then(({ Simulation }) => ({ Page: Simulation }));
const loadDesigner = () => import("./qr.js").then(({ QrCodes }) => ({ Page: QrCodes }));

/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("../../core/endpoints.js").Url} Url */

/** @param {{editing: Editing}} properties */
export function Live({ editing }) {
    const link = editing.link.value;
    if (link === null) return html`<section class="live" aria-label=${t("live.label")}><${NotYet} editing=${editing} /></section>`;
    const name = withoutScheme(link.shortUrl);
    return html`
        <section class="live" aria-label=${t("live.label")}>
            <div>
                <p class="plate">
                    <${Sign} address=${link.shortUrl} />
                    <button type="button" class="icon-button md" aria-label=${t("links.copy", { name })} title=${t("links.copyShort")} onClick=${() => copy(link.shortUrl)}>
                        <${Icon} name="copy" />
                    </button>
                    <a class="icon-button md" role="button" href=${link.shortUrl} target="_blank" rel="noopener noreferrer" aria-label=${t("live.open", { name })} title=${t("live.open", { name })}>
                        <${Icon} name="external-link" />
                    </a>
                </p>
                <${Code} link=${link} />
                <${LazyPage} load=${loadSimulation} link=${link} />
                <${Card} editing=${editing} link=${link} />
            </div>
        </section>
    `;
}

/** Before the link exists: what it will be. @param {{editing: Editing}} properties */
function NotYet({ editing }) {
    const { customCode, originalUrl } = editing.fields.value;
    return html`
        <div>
            <p class="plate"><span class="sign url">…/${customCode || t("live.randomCode")}</span></p>
            <p><small>${originalUrl.trim() === "" ? t("live.start") : html`→ <span class="url">${withoutScheme(originalUrl.trim())}</span>`}</small></p>
        </div>
    `;
}

/** @param {{link: Url}} properties */
function Code({ link }) {
    const design = useDesign(link);
    const isOpen = useSignal(false);
    return html`
        <section class="qr" aria-label=${t("section.qr")}>
            <${LazyPage} load=${loadPicture} waiting=${html`<i class="qr-picture"></i>`} address=${link.shortUrl} design=${design.value} />
            <div class="stack">
                <h2>${t("section.qr")}</h2>
                <div class="actions">
                    ${may("editor") &&
                    html`<button type="button" class="small-button" onClick=${() => downloadDesign(link, design.value, "png")}>
                        <${Icon} name="download" />PNG
                    </button>`}
                    <button type="button" class="small-button" onClick=${() => (isOpen.value = true)}>${t("qr.open")}</button>
                </div>
            </div>
            <${Dialog} isOpen=${isOpen} title=${t("links.qrOf", { name: withoutScheme(link.shortUrl) })} isWide>
                <${LazyPage} load=${loadDesigner} link=${link} design=${design} />
            <//>
        </section>
    `;
}

/**
 * The card as messengers show it. Its image is only named: this page loads nothing from elsewhere.
 * @param {{editing: Editing, link: Url}} properties
 */
function Card({ editing, link }) {
    const { preview } = editing.fields.value;
    if (!Object.values(preview).some(Boolean)) return null;
    return html`
        <section class="in-messengers" aria-label=${t("section.preview")}>
            <h2>${t("section.preview")}</h2>
            <div class="card">
                ${preview.imageUrl && html`<p class="card-image"><${Icon} name="image" /><span class="cut url">${withoutScheme(preview.imageUrl)}</span></p>`}
                <p>
                    <b dir="auto">${preview.title || link.title || hostOf(destinationOf(link))}</b>
                    ${preview.description && html`<small dir="auto">${preview.description}</small>`}
                    <small class="url">${hostOf(link.shortUrl)}</small>
                </p>
            </div>
        </section>
    `;
}
