/** Draws a long page part by part, so that it reacts to its user in between. */
import { useEffect, useSignal } from "../core/html.js";

/** Resolves in a task of its own, after the next frame. A page in the background draws no frames. */
const nextTask = () =>
    new Promise(done => {
        if (document.hidden) setTimeout(done);
        else requestAnimationFrame(() => setTimeout(done));
    });

/**
 * How many of `total` parts to draw: `step` of them at once, and as many more after each frame. What has been drawn stays,
 * also when the parts change.
 * @param {number} total
 * @param {number} step
 */
export function useGrowing(total, step) {
    const count = useSignal(step);
    const isDone = count.value >= total;
    useEffect(() => {
        let isShown = true;
        if (!isDone) nextTask().then(() => isShown && (count.value += step));
        return () => {
            isShown = false;
        };
    }, [isDone, count.value]);
    return count.value;
}
