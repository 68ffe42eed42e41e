/** The clicks of the listed links over the last 30 days. The list is complete without them. */
import { listSparklines } from "../../core/endpoints.js";
import { html, signal } from "../../core/html.js";
import { t } from "../../core/texts.js";

/** The clicks on each day, by the id of the link. */
const lines = signal(/** @type {ReadonlyMap<string, number[]>} */ (new Map()));
let loadedAt = 0;

// A search while somebody types shows the same links again and again.
const KEPT_MILLISECONDS = 60_000;

/**
 * Loads the lines of these links, in one call; none if all are known and recent.
 * @param {string[]} ids
 * @param {AbortSignal} aborted
 */
export async function loadSparklines(ids, aborted) {
    const isOld = Date.now() - loadedAt > KEPT_MILLISECONDS;
    const wanted = isOld ? ids : ids.filter(id => !lines.peek().has(id));
    if (wanted.length === 0) return;
    try {
        const loaded = await listSparklines(wanted, aborted);
        const kept = isOld ? [] : lines.peek();
        lines.value = new Map([...kept, ...loaded.map(({ _id, clicks }) => /** @type {const} */ ([_id, clicks]))]);
        if (isOld) loadedAt = Date.now();
    } catch {
        // The list itself reports a service that is away.
    }
}

const WIDTH = 80;
const HEIGHT = 28;

/** @param {{id: string}} properties */
export function Sparkline({ id }) {
    const clicks = lines.value.get(id);
    if (clicks === undefined) return null;
    const total = clicks.reduce((sum, count) => sum + count, 0);
    const line = lineOf(clicks);
    return html`
        <svg class="sparkline" data-clicks=${total} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${t("links.sparkline", { count: total })}>
            <path class="area" d=${`${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />
            <path d=${line} />
        </svg>
    `;
}

/** The curve from the left to the right. Without clicks it is flat. @param {number[]} clicks */
function lineOf(clicks) {
    const most = Math.max(1, ...clicks);
    const step = WIDTH / Math.max(1, clicks.length - 1);
    const points = clicks.map((count, day) => `${round(day * step)} ${round(HEIGHT - 1 - ((HEIGHT - 2) * count) / most)}`);
    return `M${points.join("L")}`;
}

/** @param {number} value */
const round = value => Math.round(10 * value) / 10;
