/** The lists of a report: each row has a name, and the values of the API that the name stands for. */
import { t } from "../../core/texts.js";
import { UNSET } from "./filters.js";
import { nameOfFilter, shareOf } from "./names.js";

/** @typedef {import("./filters.js").Dimension} Dimension */
/** @typedef {{name: string, values: string[], clicks: number, share: number}} Row */
/** @typedef {{value: string, clicks: number, percentage?: number, isRest?: boolean, isUnset?: boolean}} Counted */

/**
 * Rows by clicks. Values with one name are one row: `t.co` and `x.com` are both X. The values that the list leaves out come
 * last, and are none to filter by.
 * @param {Dimension} dimension
 * @param {readonly Counted[]} counted
 * @param {number} total
 * @returns {Row[]}
 */
export function rowsOf(dimension, counted, total) {
    /** No value has the row of the rest, or of those without one. @type {Map<string | {isRest: boolean}, Row>} */
    const rows = new Map();
    for (const { value: shown, clicks, percentage = shareOf(clicks, total), isRest = false, isUnset = false } of counted) {
        const value = isUnset ? UNSET : shown;
        const name = isRest ? t("report.other") : nameOfFilter(dimension, value);
        const key = isRest || isUnset ? { isRest } : name;
        const row = rows.get(key);
        if (row === undefined) rows.set(key, { name, values: isRest ? [] : [value], clicks, share: percentage });
        else rows.set(key, { ...row, values: [...row.values, value], clicks: row.clicks + clicks, share: shareOf(row.clicks + clicks, total) });
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
    const countries = places?.countries ?? topCountries.map(({ country, ...counted }) => ({ code: country, ...counted }));
    const regions = places?.regions ?? topRegions.map(({ region, ...counted }) => ({ name: region, ...counted }));
    const cities = places?.cities ?? topCities.map(({ city, ...counted }) => ({ name: city, ...counted }));
    const types = devices?.devices ?? topDevices.map(({ device, ...counted }) => ({ type: device, ...counted }));
    const browsers = devices?.browsers ?? topBrowsers.map(({ browser, ...counted }) => ({ name: browser, ...counted }));
    const systems = devices?.operatingSystems ?? topOperatingSystems.map(({ operatingSystem, ...counted }) => ({ name: operatingSystem, ...counted }));
    /** @param {{name: string, country: string}} place as the filter takes it; that of the rest is never shown */
    const placeOf = ({ name, country }) => (name === "unknown" ? name : `${country} ${name}`);
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
