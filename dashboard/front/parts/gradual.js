/** Draws a long page part by part, so that it reacts to its user in between. */
import { useEffect, useSignal } from "../core/html.js";

/** Resolves in a task of its own, after the next frame; soon also in the background, where a page draws no frames. */
const nextTask = () =>
    new Promise(done => {
        const next = () => {
            clearTimeout(timer);
            setTimeout(done);
        };
        const timer = setTimeout(next, 100);
        requestAnimationFrame(next);
    });

/**
 * How many of `total` parts to draw: `first` of them at once, and `step` more after each frame. What has been drawn stays,
 * also when the parts change.
 * @param {number} total
 * @param {number} step
 * @param {number} first
 */
export function useGrowing(total, step, first = step) {
    const count = useSignal(first);
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
