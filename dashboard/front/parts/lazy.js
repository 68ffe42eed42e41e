/** A page whose module is loaded when it is first shown. */
import { html, useEffect, useSignal } from "../core/html.js";
import { t } from "../core/texts.js";
import { Skeleton } from "./skeleton.js";

/** @typedef {{Page: (properties: any) => any}} PageModule */
/** @typedef {() => Promise<PageModule>} Load */

/** @type {Map<Load, PageModule>} */
const modules = new Map();

/** @param {Load} load */
export async function loadOnce(load) {
    const module = modules.get(load) ?? (await load());
    modules.set(load, module);
    return module;
}

/**
 * @param {{load: Load, waiting?: import("../core/html.js").Children} & Record<string, any>} properties `waiting`: in its place
 *     until it is loaded, of the same size
 */
export function LazyPage({ load, waiting, ...properties }) {
    const module = useSignal(modules.get(load) ?? null);
    const hasFailed = useSignal(false);
    const start = () => {
        hasFailed.value = false;
        loadOnce(load).then(
            loaded => (module.value = loaded),
            () => (hasFailed.value = true),
        );
    };
    useEffect(start, []);
    if (module.value !== null) return html`<${module.value.Page} ...${properties} />`;
    if (!hasFailed.value) return waiting ?? html`<div class="body"><${Skeleton} shape="cards" count=${2} /></div>`;
    return html`<div class="body"><p role="alert">${t("page.failed")} <button onClick=${start}>${t("page.retry")}</button></p></div>`;
}
