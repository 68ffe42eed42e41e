/** The steps after the first link: share it, print its QR code, and wait for the first click. */
import { copy } from "../../core/clipboard.js";
import { readLink } from "../../core/endpoints.js";
import { report } from "../../core/failures.js";
import { html, useEffect, useRef, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Bookmarklet } from "../../parts/bookmarklet.js";
import { Icon } from "../../parts/icon.js";
import { usualDesign } from "../editor/qr_design.js";
import { downloadQrCode } from "../editor/qr_files.js";
import { QrPicture } from "../editor/qr_picture.js";

/** @typedef {import("../../core/endpoints.js").Url} Url */

const POLL_MILLISECONDS = 1_500;
const PRINTED_SIZE = 1_000;

/** @param {{link: Url}} properties */
export function Steps({ link }) {
    const address = useRef(/** @type {HTMLElement | null} */ (null));
    useEffect(() => address.current?.focus(), []);
    return html`
        <ol class="steps">
            <li>
                <h2>${t("start.link")}</h2>
                <p class="summary">
                    <a ref=${address} href=${link.shortUrl} target="_blank" rel="noopener noreferrer" dir="ltr">${link.shortUrl}</a>
                    <button class="copy" onClick=${() => copy(link.shortUrl)}>${t("links.copyShort")}</button>
                </p>
                <p><small dir="ltr">${link.originalUrl}</small></p>
            </li>
            <li>
                <h2>${t("section.qr")}</h2>
                <${QrCode} link=${link} />
            </li>
            <li>
                <h2>${t("start.click")}</h2>
                <${FirstClick} link=${link} />
            </li>
            <li>
                <h2>${t("bookmarklet.title")}</h2>
                <${Bookmarklet} />
            </li>
        </ol>
    `;
}

/** @param {{link: Url}} properties */
function QrCode({ link }) {
    const download = () => downloadQrCode({ urlId: link._id, format: "png", size: PRINTED_SIZE }).catch(report);
    return html`
        <p>${t("start.qrText")}</p>
        <div class="first-code"><${QrPicture} address=${link.shortUrl} design=${usualDesign()} /></div>
        <p><button onClick=${download}><${Icon} name="download" />${t("start.download")}</button></p>
    `;
}

/** @param {{link: Url}} properties */
function FirstClick({ link }) {
    const clicks = useSignal(link.clickCount);
    const isSeen = clicks.value > 0;
    useEffect(() => {
        if (isSeen) return undefined;
        const timer = setInterval(async () => {
            if (document.hidden) return;
            try {
                clicks.value = (await readLink(link._id)).clickCount;
            } catch {
                // The banner reports the failure; the next attempt follows.
            }
        }, POLL_MILLISECONDS);
        return () => clearInterval(timer);
    }, [isSeen]);
    return html`
        <p role="status">${isSeen ? t("start.seen", { count: clicks.value }) : t("start.waiting")}</p>
        ${!isSeen && html`<progress aria-label=${t("start.click")}></progress>`}
        ${isSeen &&
        html`<p class="actions">
            <a role="button" class="primary" href=${`/dashboard/links/${link._id}/report`}>${t("start.report")}</a>
            <a role="button" href=${`/dashboard/links/${link._id}`}>${t("start.edit")}</a>
            <a role="button" href="/dashboard/">${t("start.list")}</a>
        </p>`}
    `;
}
