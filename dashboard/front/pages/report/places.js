/** Where the visitors were: the map, countries and cities. */
import { html } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { DataTable } from "./data_table.js";
import { WorldMap } from "./map.js";
import { nameOfCountry, nameOfValue } from "./names.js";
import { fileName } from "./report.js";

/** @param {{report: import("./report.js").Report, figures: import("./report.js").Figures}} properties */
export function PlacesSection({ report, figures: { places } }) {
    const countries = places.countries.map(({ code, clicks, percentage }) => [nameOfCountry(code), clicks, percentage]);
    const cities = places.cities.map(({ name, country, clicks }) => [nameOfValue(name), nameOfCountry(country), clicks]);
    return html`
        <section aria-label=${t("report.places")}>
            <h2>${t("report.places")}</h2>
            <${WorldMap} countries=${places.countries} />
            <div class="columns">
                <div>
                    <h3>${t("report.countries")}</h3>
                    <${DataTable}
                        title=${t("report.countries")}
                        file=${fileName(report, "countries")}
                        columns=${[
                            { label: t("report.country") },
                            { label: t("report.total.clicks"), kind: "number" },
                            { label: t("report.share"), kind: "percent" },
                        ]}
                        rows=${countries}
                        bar=${1}
                    />
                </div>
                <div>
                    <h3>${t("report.cities")}</h3>
                    <${DataTable}
                        title=${t("report.cities")}
                        file=${fileName(report, "cities")}
                        columns=${[
                            { label: t("report.city") },
                            { label: t("report.country") },
                            { label: t("report.total.clicks"), kind: "number" },
                        ]}
                        rows=${cities}
                        bar=${2}
                    />
                    <${Attribution} attribution=${places.attribution} />
                </div>
            </div>
        </section>
    `;
}

/** The licence of the city database can require it.
 * @param {{attribution: import("./endpoints.js").Places["attribution"]}} properties
 */
function Attribution({ attribution }) {
    if (attribution === undefined) return null;
    return html`<p class="muted">
        <a href=${attribution.url} target="_blank" rel="noopener noreferrer">${attribution.text}</a>
    </p>`;
}
