/** Data that a component loads when it is shown, and again when the service responds after a failure. */
import { messageOf } from "../core/failures.js";
import { html, useEffect, useRef, useSignal } from "../core/html.js";
import { recoveries } from "./banners.js";
import { Failed } from "./failed.js";
import { Skeleton } from "./skeleton.js";

/**
 * @template T
 * @typedef {{value: T | null, failure: string | null, refresh: () => Promise<void>}} Loaded
 */

/**
 * @template T
 * @param {() => Promise<T>} load
 * @param {unknown[]} [dependencies] a change of one loads again
 * @returns {Loaded<T>}
 */
export function useLoaded(load, dependencies = []) {
    const value = useSignal(/** @type {T | null} */ (null));
    const failure = useSignal(/** @type {string | null} */ (null));
    const last = useRef(0);
    const refresh = async () => {
        const own = ++last.current;
        try {
            const loaded = await load();
            // A later call has replaced this one.
            if (own !== last.current) return;
            value.value = loaded;
            failure.value = null;
        } catch (error) {
            if (own === last.current) failure.value = messageOf(error);
        }
    };
    useEffect(() => {
        refresh();
    }, [recoveries.value, ...dependencies]);
    return { value: value.value, failure: failure.value, refresh };
}

/**
 * The placeholder of a value that is not loaded.
 * @param {{of: Loaded<any>, shape?: "cards" | "inputs", count?: number}} properties
 */
export function Pending({ of: { value, failure, refresh }, shape = "cards", count = 3 }) {
    if (failure !== null) return html`<${Failed} message=${failure} onRetry=${refresh} />`;
    return value === null ? html`<${Skeleton} shape=${shape} count=${count} />` : null;
}
