/** The time zones that a page offers. */
import { useEffect, useSignal } from "./html.js";

export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

// After the first figures of a quick service.
const ZONES_MILLISECONDS = 1_000;

/**
 * The browser's zone and UTC first.
 * @param {string} chosen
 * @param {readonly string[]} others
 */
export const listZones = (chosen, others) => [...new Set([ownZone, "UTC", ...others, chosen])];

/**
 * The hundreds of zones take longer to draw than the rest of a page, so they follow when the browser has time.
 * @param {string} chosen
 */
export function useZones(chosen) {
    const others = useSignal(/** @type {string[]} */ ([]));
    useEffect(() => {
        const timer = setTimeout(() => (others.value = Intl.supportedValuesOf("timeZone")), ZONES_MILLISECONDS);
        return () => clearTimeout(timer);
    }, []);
    return listZones(chosen, others.value);
}
