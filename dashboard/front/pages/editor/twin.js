/** Another link of the workspace that leads to the address in a field. It is only a hint: there may be two. */
import { withScheme } from "../../core/addresses.js";
import { listLinks } from "../../core/endpoints.js";
import { html, useEffect, useSignal } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { t } from "../../core/texts.js";

const TYPING_MILLISECONDS = 300;

/**
 * @param {object} properties
 * @param {string} properties.address as typed
 * @param {string | null} properties.id the link that is being edited; null: a new one
 */
export function Twin({ address, id }) {
    const twin = useSignal(/** @type {import("../../core/endpoints.js").ListedUrl | null} */ (null));
    const destination = withScheme(address);
    useEffect(() => {
        twin.value = null;
        if (!/^https?:/i.test(destination) || !URL.canParse(destination)) return undefined;
        const stopped = new AbortController();
        const timer = setTimeout(() => {
            // One more, because this link may be among them.
            listLinks({ destination, archived: "any", limit: 2 }, stopped.signal).then(
                ({ urls }) => (twin.value = urls.find(({ _id }) => _id !== id) ?? null),
                () => {},
            );
        }, TYPING_MILLISECONDS);
        return () => {
            clearTimeout(timer);
            stopped.abort();
        };
    }, [destination, id]);
    return html`<span role="status">
        ${twin.value !== null &&
        html`${t("editor.exists")}${" "}<a class="url" href=${`/dashboard/links/${twin.value._id}`}>${withoutScheme(twin.value.shortUrl)}</a>`}
    </span>`;
}
