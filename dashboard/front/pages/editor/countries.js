/** Countries by the names that people type. */
import { countries, countryName } from "../../core/countries.js";
import { html, useMemo } from "../../core/html.js";
import { t } from "../../core/texts.js";
import { Chips } from "../../parts/chips.js";

const byName = () => [...countries].sort((one, other) => countryName(one).localeCompare(countryName(other)));

/**
 * The code of a country that is typed by its code or its name. Null: there is none.
 * @param {string} text
 */
export function countryOf(text) {
    const code = text.toUpperCase();
    if (countries.includes(code)) return code;
    const name = text.toLocaleLowerCase();
    return countries.find(known => countryName(known).toLocaleLowerCase() === name) ?? null;
}

/**
 * @param {{name: string, label: string, isLabelled?: boolean, values: readonly string[], error?: string, required?: boolean, placeholder?: string, onChange: (values: string[]) => void}} properties
 */
export function Countries(properties) {
    const suggestions = useMemo(byName, []);
    return html`<${Chips}
        placeholder=${t("countries.add")}
        ...${properties}
        nameOf=${countryName}
        parse=${countryOf}
        problem=${(/** @type {string} */ text) => t("countries.unknown", { name: text })}
        suggestions=${suggestions}
    />`;
}
