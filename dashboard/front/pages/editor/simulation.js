/** What a visitor gets: simulates the visit of a described visitor, as a route with its stops. Nothing is counted. */
import { countries, countryName } from "../../core/countries.js";
import { simulate } from "../../core/endpoints.js";
import { messageOf } from "../../core/failures.js";
import { html, useEffect, useRef, useSignal } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { stepText, t, textOr } from "../../core/texts.js";
import { Icon } from "../../parts/icon.js";
import { MomentInput } from "../../parts/moment_input.js";
import { DEVICES } from "./model.js";

/** @typedef {import("../../core/endpoints.js").Simulated} Simulated */

/** @param {{link: import("../../core/endpoints.js").Url}} properties a new version of the link is simulated again */
export function Simulation({ link }) {
    const { _id: id, updatedAt: version } = link;
    const result = useSignal(/** @type {Simulated | null} */ (null));
    const time = useSignal("");
    const failure = useSignal(/** @type {string | null} */ (null));
    const form = useRef(/** @type {HTMLFormElement | null} */ (null));
    const last = useRef(0);
    const run = async () => {
        if (form.current === null) return;
        const own = ++last.current;
        const fields = new FormData(form.current);
        /** @param {string} name */
        const value = name => String(fields.get(name) ?? "").trim() || null;
        const visit = {
            country: value("country"),
            device: value("device"),
            language: value("language"),
            referrer: value("referrer"),
            address: value("address"),
            time: time.value || null,
            unlocked: value("unlocked") !== null,
        };
        try {
            const simulated = await simulate(id, /** @type {any} */ (visit));
            if (own !== last.current) return;
            result.value = simulated;
            failure.value = null;
        } catch (error) {
            if (own === last.current) failure.value = messageOf(error);
        }
    };
    useEffect(() => {
        run();
    }, [id, version]);
    /** @param {SubmitEvent} event */
    const submit = event => {
        event.preventDefault();
        run();
    };
    return html`
        <section class="simulation" aria-label=${t("section.simulation")}>
            <h2>${t("section.simulation")}</h2>
            <form ref=${form} onSubmit=${submit} onChange=${run}>
                <div class="who">
                    <select name="country" aria-label=${t("simulation.country")}>
                        <option value="">${t("simulation.anyCountry")}</option>
                        ${countries.map(code => html`<option key=${code} value=${code}>${countryName(code)}</option>`)}
                    </select>
                    <select name="device" aria-label=${t("simulation.device")}>
                        <option value="">${t("simulation.anyDevice")}</option>
                        ${DEVICES.map(device => html`<option key=${device} value=${device}>${t(`device.${device}`)}</option>`)}
                    </select>
                </div>
                <details>
                    <summary>${t("simulation.more")}</summary>
                    <div class="who">
                        <label>${t("simulation.language")}<input name="language" placeholder="de-CH,de;q=0.9" /></label>
                        <label>${t("simulation.referrer")}<input name="referrer" type="url" /></label>
                        <label>${t("simulation.address")}<input name="address" placeholder="203.0.113.9" /></label>
                    </div>
                    <${MomentInput}
                        name="time"
                        label=${t("simulation.time")}
                        zoneLabel=${t("times.zoneOfTime")}
                        value=${time.value}
                        onValue=${(/** @type {string} */ moment) => (time.value = moment)}
                    />
                    <label><input type="checkbox" name="unlocked" /> ${t("simulation.unlocked")}</label>
                    <button type="submit" class="small-button">${t("simulation.run")}</button>
                </details>
            </form>
            ${failure.value !== null && html`<p class="failure">${failure.value}</p>`}
            ${result.value !== null && html`<${Result} link=${link} result=${result.value} />`}
        </section>
    `;
}

/** The stops of the route: the rule or the variant that decides, or the refusal, and where it ends. @param {{link: import("../../core/endpoints.js").Url, result: Simulated}} properties */
function Result({ link, result: { outcome, steps } }) {
    const refused = steps.find(({ passed }) => !passed);
    const { location, rule, variant, reason, status } = outcome;
    return html`
        <div role="status"><ol class="route">
            <li data-kind="on"><span class="stop"><${Icon} name="user" /></span><span>${t("simulation.visitor")}</span></li>
            ${rule !== null && html`<li data-kind="on"><span class="stop"><${Icon} name="check" /></span><span dir="auto">${t("simulation.rule", { name: nameIn(link.rules, rule) })}</span></li>`}
            ${variant !== null && html`<li data-kind="on"><span class="stop"><${Icon} name="split" /></span><span dir="auto">${t("simulation.variant", { name: nameIn(link.split, variant) })}</span></li>`}
            ${refused !== undefined &&
            html`<li data-kind="off"><span class="stop"><${Icon} name="minus" /></span><span dir="auto">${stepText(refused, outcome)}</span></li>`}
            ${location !== null
                ? html`<li data-kind="on"><span class="stop"><${Icon} name="map-pin" /></span><output name="location" class="url" title=${location}>${withoutScheme(location)}</output></li>`
                : html`<li data-kind="off"><span class="stop"><${Icon} name="x" /></span><output name="location">${t("simulation.ends", { status })} ${textOr(`report.reason.${reason}`, reason ?? "")}</output></li>`}
        </ol></div>
        <details>
            <summary>${t("simulation.steps")}</summary>
            <ol class="checks">
                ${steps.map(step => html`<${Step} key=${step.check} step=${step} text=${stepText(step, outcome)} />`)}
            </ol>
        </details>
    `;
}

/**
 * The place of a rule or a variant without a name, which the API calls by its id.
 * @param {readonly {_id?: string}[] | null | undefined} list
 * @param {string} called
 */
function nameIn(list, called) {
    const at = (list ?? []).findIndex(({ _id }) => _id === called);
    return at < 0 ? called : String(at + 1);
}

/**
 * Other languages add the API's own sentence, in English: it has the values that decided.
 * @param {{step: Simulated["steps"][number], text: string}} properties
 */
const Step = ({ step: { passed, detail }, text }) => html`
    <li data-passed=${passed}>
        <${Icon} name=${passed ? "check" : "x"} /> <span dir="auto">${text}</span>
        ${text !== detail && html` <small lang="en" dir="auto">(${detail})</small>`}
    </li>
`;
