/** A map of the world with the clicks of each country, which filter by it. Keyboards and screen readers use the table beside it. */
import { number } from "../../core/format.js";
import { html, useEffect, useRef, useSignal } from "../../core/html.js";
import { query } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { filterBy } from "./filter_bar.js";
import { adding } from "./filters.js";
import { nameOfCountry } from "./names.js";

/** @typedef {{code: string, clicks: number}[]} Countries */
/** @typedef {typeof import("./map_drawing.js")} Drawing */

const LEVELS = 5;

/** @param {{countries: Countries}} properties */
export function WorldMap({ countries }) {
    const place = useRef(/** @type {HTMLElement | null} */ (null));
    const drawing = useSignal(/** @type {Drawing | null} */ (null));
    const hasFailed = useSignal(false);
    useEffect(() => {
        const observer = new IntersectionObserver(
            entries => {
                if (!entries.some(entry => entry.isIntersecting)) return;
                observer.disconnect();
                import("./map_drawing.js").then(
                    loaded => (drawing.value = loaded),
                    () => (hasFailed.value = true),
                );
            },
            // Loading begins before the map scrolls into view.
            { rootMargin: "300px" },
        );
        if (place.current !== null) observer.observe(place.current);
        return () => observer.disconnect();
    }, []);
    return html`
        <figure class="map" ref=${place}>
            ${hasFailed.value && html`<p role="alert" class="failure">${t("report.mapFailed")}</p>`}
            ${drawing.value !== null && html`<${Drawn} drawing=${drawing.value} countries=${countries} />`}
        </figure>
    `;
}

/** @param {{drawing: Drawing, countries: Countries}} properties */
function Drawn({ drawing, countries }) {
    const clicksOf = new Map(countries.map(country => [country.code, country.clicks]));
    const most = Math.max(1, ...clicksOf.values());
    const drawn = new Set(drawing.countries.map(country => country.code));
    const absent = countries.filter(({ code }) => code !== "unknown" && !drawn.has(code));
    return html`
        <svg viewBox="0 0 ${drawing.WIDTH} ${drawing.HEIGHT}" role="img" aria-label=${t("report.map")}>
            ${drawing.countries.map(
                ({ code, outline }) => html`
                    <path
                        d=${outline}
                        data-country=${code}
                        data-level=${levelOf(clicksOf.get(code) ?? 0, most)}
                        onClick=${clicksOf.has(code) ? () => filterBy(adding(query.value, "country", [code], false)) : undefined}
                    >
                        ${code !== "" && html`<title>${titleOf(code, clicksOf.get(code) ?? 0)}</title>`}
                    </path>
                `,
            )}
        </svg>
        ${absent.length > 0 &&
        html`<figcaption>
            ${t("report.notOnMap", { countries: absent.map(({ code, clicks }) => titleOf(code, clicks)).join(", ") })}
        </figcaption>`}
    `;
}

/**
 * From 0, no clicks, to LEVELS. The scale is a square root, because one country often has most of the clicks.
 * @param {number} clicks
 * @param {number} most
 */
const levelOf = (clicks, most) => Math.ceil(LEVELS * Math.sqrt(clicks / most));

/**
 * @param {string} code
 * @param {number} clicks
 */
const titleOf = (code, clicks) => `${nameOfCountry(code)}: ${number(clicks)}`;
