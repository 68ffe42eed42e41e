/** Templates for Preact without a compiler, and the parts of its libraries that components use. */
import htm from "../vendor/htm.mjs";
import { h, options } from "../vendor/preact.mjs";
import { inWorkspace } from "./workspace.js";

/** @typedef {import("../vendor/preact.mjs").ComponentChildren} Children */
/**
 * @template T
 * @typedef {import("../vendor/signals.mjs").Signal<T>} Signal
 */

/** @type {(strings: TemplateStringsArray, ...values: any[]) => import("../vendor/preact.mjs").VNode<any>} */
export const html = /** @type {any} */ (htm).bind(h);
export { Fragment, render } from "../vendor/preact.mjs";
export { useEffect, useLayoutEffect, useMemo, useRef } from "../vendor/hooks.mjs";
export { batch, computed, effect, signal, useComputed, useSignal, useSignalEffect } from "../vendor/signals.mjs";

// Links to other pages of the dashboard keep the workspace, also in another tab.
const next = options.vnode;
options.vnode = vnode => {
    /** @type {any} */
    const { type, props } = vnode;
    if (type === "a" && props.href?.startsWith("/dashboard/")) props.href = inWorkspace(props.href);
    next?.(vnode);
};
