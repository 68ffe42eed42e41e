/** A moment as date and time of a zone, which can be chosen beside it. */
import { dateAndTime } from "../core/format.js";
import { html, useRef, useSignal } from "../core/html.js";
import { t } from "../core/texts.js";
import { fromZoned, toZoned } from "../core/zoned.js";
import { listZones, ownZone } from "../core/zones.js";
import { About } from "./about.js";

/**
 * Another zone keeps the date and time that are typed, so it makes another moment of them.
 * @param {object} properties
 * @param {string} properties.name
 * @param {import("../core/html.js").Children} properties.label
 * @param {string} properties.zoneLabel
 * @param {string} properties.value ISO 8601; empty: none
 * @param {string} [properties.error]
 * @param {string} [properties.hint]
 * @param {boolean} [properties.required]
 * @param {(moment: string) => void} properties.onValue
 */
export function MomentInput({ name, label, zoneLabel, value, error, hint, required, onValue }) {
    const zone = useSignal(ownZone);
    /** @type {import("../core/html.js").Signal<string[]>} */
    const others = useSignal([]);
    const text = useSignal(toZoned(value, zone.value));
    // What the field has told. Any other value is from elsewhere, and replaces what was typed.
    const told = useRef(value);
    if (told.current !== value) {
        told.current = value;
        text.value = toZoned(value, zone.value);
    }
    /** @param {string} typed */
    const tell = typed => {
        text.value = typed;
        told.current = fromZoned(typed, zone.value);
        onValue(told.current);
    };
    /** @param {string} chosen */
    const choose = chosen => {
        zone.value = chosen;
        if (text.value !== "") tell(text.value);
    };
    const about = `${name}-about`;
    const said = value !== "" && zone.value !== ownZone ? t("times.own", { time: dateAndTime(value) }) : hint;
    return html`
        <div class="moment">
            <label>
                ${label}
                <input
                    name=${name}
                    type="datetime-local"
                    max="9999-12-31T23:59"
                    required=${required}
                    aria-invalid=${error === undefined ? undefined : "true"}
                    aria-describedby=${error || said ? about : undefined}
                    value=${text.value}
                    onInput=${(/** @type {any} */ event) => tell(event.target.value)}
                    onBlur=${() => (text.value = toZoned(told.current, zone.value))}
                />
            </label>
            <select
                name=${`${name}Zone`}
                aria-label=${zoneLabel}
                onFocus=${() => (others.value = Intl.supportedValuesOf("timeZone"))}
                onChange=${(/** @type {any} */ event) => choose(event.target.value)}
            >
                ${listZones(zone.value, others.value).map(one => html`<option key=${one} value=${one} selected=${one === zone.value}>${one.replaceAll("_", " ")}</option>`)}
            </select>
            <${About} id=${about} error=${error} hint=${said} />
        </div>
    `;
}

/**
 * A moment of a form, with the API's message about it: what `Input` is for texts.
 * @param {object} properties
 * @param {import("./sending.js").Sending} properties.sending
 * @param {string} properties.name of the API's field
 * @param {import("../core/html.js").Signal<string>} properties.value
 */
export const MomentField = ({ sending, name, value, ...more }) => html`
    <${MomentInput}
        name=${name}
        value=${value.value}
        error=${sending.errors.value[name]}
        onValue=${(/** @type {string} */ moment) => (value.value = moment)}
        ...${more}
    />
`;
