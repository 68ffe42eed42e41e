/** The lists of a report: each row has a name, and the values of the API that the name stands for. */
import { OTHER, nameOfFilter, shareOf } from "./names.js";

/** @typedef {import("./filters.js").Dimension} Dimension */
/** @typedef {{name: string, values: string[], clicks: number, share: number}} Row */
/** @typedef {{value: string, clicks: number, percentage?: number}} Counted */

/**
 * Rows by clicks. Values with one name are one row: `t.co` and `x.com` are both X. The values that the list leaves out come
 * last, and are none to filter by.
 * @param {Dimension} dimension
 * @param {readonly Counted[]} counted
 * @param {number} total
 * @returns {Row[]}
 */
export function rowsOf(dimension, counted, total) {
    /** @type {Map<string, Row>} */
    const rows = new Map();
    for (const { value, clicks, percentage = shareOf(clicks, total) } of counted) {
        const name = nameOfFilter(dimension, value);
        const row = rows.get(name);
        if (row === undefined) rows.set(name, { name, values: value === OTHER ? [] : [value], clicks, share: percentage });
        else rows.set(name, { ...row, values: [...row.values, value], clicks: row.clicks + clicks, share: shareOf(row.clicks + clicks, total) });
    }
    return [...rows.values()].sort((one, other) => Number(one.values.length === 0) - Number(other.values.length === 0) || other.clicks - one.clicks);
}

/**
 * @param {import("./endpoints.js").Overview} overview
 * @param {import("./endpoints.js").Devices | null} devices of a link; the overview of a workspace has them itself
 * @param {import("./endpoints.js").Places | null} places of a link
 * @returns {import("./report.js").Lists}
 */
export function listsOf(overview, devices, places) {
    const { topCountries, topLanguages, topReferrers, topDevices } = overview;
    const { topRegions = [], topCities = [], topBrowsers = [], topOperatingSystems = [] } = overview;
    const countries = places?.countries ?? topCountries.map(({ country, clicks }) => ({ code: country, clicks }));
    const regions = places?.regions ?? topRegions.map(({ region, ...counted }) => ({ name: region, ...counted }));
    const cities = places?.cities ?? topCities.map(({ city, ...counted }) => ({ name: city, ...counted }));
    const types = devices?.devices ?? topDevices.map(({ device, clicks }) => ({ type: device, clicks }));
    const browsers = devices?.browsers ?? topBrowsers.map(({ browser, clicks }) => ({ name: browser, clicks }));
    const systems = devices?.operatingSystems ?? topOperatingSystems.map(({ operatingSystem, clicks }) => ({ name: operatingSystem, clicks }));
    /** @param {{name: string, country: string}} place as the filter takes it */
    const placeOf = ({ name, country }) => (name === "unknown" || name === OTHER ? name : `${country} ${name}`);
    /** @template Counts @param {Dimension} dimension @param {readonly Counts[]} counted @param {(counts: Counts) => string} valueOf */
    const list = (dimension, counted, valueOf) =>
        rowsOf(dimension, counted.map(counts => ({ .../** @type {any} */ (counts), value: valueOf(counts) })), overview.totalClicks);
    return {
        referrer: list("referrer", topReferrers, ({ referrer }) => referrer),
        country: list("country", countries, ({ code }) => code),
        region: list("region", regions, placeOf),
        city: list("city", cities, placeOf),
        device: list("device", types, ({ type }) => type),
        browser: list("browser", browsers, ({ name }) => name),
        os: list("os", systems, ({ name }) => name),
        language: list("language", topLanguages, ({ language }) => language),
    };
}
