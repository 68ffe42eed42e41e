/** Simulates the visit of a described visitor. Nothing is counted. */
import { countries, countryName } from "../../core/countries.js";
import { simulate } from "../../core/endpoints.js";
import { fromLocalInput } from "../../core/format.js";
import { messageOf } from "../../core/failures.js";
import { html, useSignal } from "../../core/html.js";
import { stepText, t } from "../../core/texts.js";
import { DEVICES } from "./model.js";

/** @typedef {import("../../core/endpoints.js").Simulated} Simulated */

/** @param {{id: string}} properties */
export function Simulation({ id }) {
    const result = useSignal(/** @type {Simulated | null} */ (null));
    const failure = useSignal(/** @type {string | null} */ (null));
    /** @param {SubmitEvent} event */
    const submit = async event => {
        event.preventDefault();
        const form = /** @type {HTMLFormElement} */ (event.target);
        /** @param {string} name */
        const value = name => String(new FormData(form).get(name) ?? "").trim() || null;
        const visit = {
            country: value("country"),
            device: value("device"),
            language: value("language"),
            referrer: value("referrer"),
            address: value("address"),
            time: fromLocalInput(value("time") ?? ""),
            unlocked: value("unlocked") !== null,
        };
        try {
            result.value = await simulate(id, /** @type {any} */ (visit));
            failure.value = null;
        } catch (error) {
            failure.value = messageOf(error);
        }
    };
    return html`
        <details class="simulation">
            <summary>${t("section.simulation")}</summary>
            <p><small>${t("simulation.text")}</small></p>
            <form onSubmit=${submit}>
                <div class="grid">
                    <label>
                        ${t("simulation.country")}
                        <select name="country">
                            <option value="">${t("simulation.unknown")}</option>
                            ${countries.map(code => html`<option key=${code} value=${code}>${countryName(code)}</option>`)}
                        </select>
                    </label>
                    <label>
                        ${t("simulation.device")}
                        <select name="device">
                            <option value="">${t("simulation.unknown")}</option>
                            ${DEVICES.map(device => html`<option key=${device} value=${device}>${t(`device.${device}`)}</option>`)}
                        </select>
                    </label>
                    <label>${t("simulation.language")}<input name="language" placeholder="de-CH,de;q=0.9" /></label>
                </div>
                <div class="grid">
                    <label>${t("simulation.referrer")}<input name="referrer" type="url" /></label>
                    <label>${t("simulation.address")}<input name="address" placeholder="203.0.113.9" /></label>
                    <label>${t("simulation.time")}<input name="time" type="datetime-local" /></label>
                </div>
                <label><input type="checkbox" name="unlocked" /> ${t("simulation.unlocked")}</label>
                <button type="submit" class="secondary">${t("simulation.run")}</button>
            </form>
            ${failure.value !== null && html`<p role="alert" class="failure">${failure.value}</p>`}
            ${result.value !== null && html`<${Result} result=${result.value} />`}
        </details>
    `;
}

/** @param {{result: Simulated}} properties */
const Result = ({ result: { outcome, steps } }) => html`
    <div role="status">
        <p>
            <strong>${outcome.status}</strong>
            ${outcome.location !== null
                ? html` → <output name="location" dir="ltr">${outcome.location}</output>`
                : html` ${outcome.reason}`}
        </p>
        <ol>
            ${steps.map(step => html`<${Step} key=${step.check} step=${step} text=${stepText(step, outcome)} />`)}
        </ol>
    </div>
`;

/**
 * Other languages add the API's own sentence, in English: it has the values that decided.
 * @param {{step: Simulated["steps"][number], text: string}} properties
 */
const Step = ({ step: { passed, detail }, text }) => html`
    <li>
        ${passed ? "✓" : "✗"} <span dir="auto">${text}</span>
        ${text !== detail && html` <small lang="en" dir="auto">(${detail})</small>`}
    </li>
`;
