/** Repeats a task while the page is visible. */

// The service counts a click within a second, so its figures arrive within two.
const INTERVAL = 750;
const MAX_INTERVAL = 30_000;

/**
 * Runs the task once `now` is called, and again after each end of it, while the page is visible.
 * @param {(aborted: AbortSignal) => Promise<"repeat" | "failed" | "done">} task After "failed", the pause doubles.
 *     After "done", the task runs again only if `now` is called.
 * @param {number} [interval] between the end of the task and its next start
 * @returns {{now: () => void, stop: () => void}} `now` aborts a running task and starts it anew.
 */
export function repeatWhileVisible(task, interval = INTERVAL) {
    let timer = 0;
    let pause = interval;
    let isStopped = false;
    let isDone = true;
    /** @type {AbortController | null} */
    let running = null;

    const run = async () => {
        clearTimeout(timer);
        const own = new AbortController();
        running = own;
        const result = await task(own.signal);
        if (running !== own) return;
        running = null;
        isDone = result === "done";
        pause = result === "failed" ? Math.min(2 * pause, MAX_INTERVAL) : interval;
        schedule();
    };
    const schedule = (delay = pause) => {
        clearTimeout(timer);
        if (!isStopped && !isDone && !document.hidden && running === null) timer = window.setTimeout(run, delay);
    };
    const onVisibility = () => schedule(0);
    const now = () => {
        if (isStopped) return;
        running?.abort();
        pause = interval;
        isDone = false;
        run();
    };
    document.addEventListener("visibilitychange", onVisibility);
    return {
        now,
        stop: () => {
            isStopped = true;
            running?.abort();
            running = null;
            clearTimeout(timer);
            document.removeEventListener("visibilitychange", onVisibility);
        },
    };
}
