/** The steps after the first link: share it, print its QR code, and wait for the first click. */
import { copy } from "../../core/clipboard.js";
import { createQrCode, readLink } from "../../core/endpoints.js";
import { messageOf, report } from "../../core/failures.js";
import { html, useEffect, useRef, useSignal } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { recoveries } from "../../parts/banners.js";
import { Bookmarklet } from "../../parts/bookmarklet.js";
import { downloadQrCode, pathOf } from "../editor/qr_files.js";

/** @typedef {import("../../core/endpoints.js").Url} Url */

const POLL_MILLISECONDS = 1_500;
const PREVIEW_SIZE = 240;
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
                    <button class="copy outline secondary" onClick=${() => copy(link.shortUrl)}>${t("links.copyShort")}</button>
                </p>
                <p><small dir="ltr">${link.originalUrl}</small></p>
            </li>
            <li>
                <h2>${t("section.qr")}</h2>
                <${QrCode} id=${link._id} />
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

/** @param {{id: string}} properties */
function QrCode({ id }) {
    const preview = useSignal("");
    const problem = useSignal("");
    const isReachable = recoveries.value;
    useEffect(() => {
        if (preview.value !== "") return;
        createQrCode({ urlId: id, format: "svg", size: PREVIEW_SIZE }).then(
            code => {
                preview.value = pathOf(code.imageUrl);
                problem.value = "";
            },
            error => (problem.value = messageOf(error) ?? ""),
        );
    }, [isReachable]);
    const download = () => downloadQrCode({ urlId: id, format: "png", size: PRINTED_SIZE }).catch(report);
    return html`
        <p>${t("start.qrText")}</p>
        ${problem.value && html`<p role="alert" class="failure">${problem.value}</p>`}
        ${preview.value && html`<img src=${preview.value} alt=${t("qr.alt")} width=${PREVIEW_SIZE} height=${PREVIEW_SIZE} />`}
        <p><button class="secondary" onClick=${download}>${t("start.download")}</button></p>
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
            <a role="button" href=${`/dashboard/links/${link._id}`}>${t("start.edit")}</a>
            <a role="button" class="secondary" href="/dashboard/">${t("start.list")}</a>
        </p>`}
    `;
}
