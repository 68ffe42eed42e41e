/** How uPlot draws the chart: one position per step, and the colours of the style sheet. */

/** @typedef {import("../../vendor/uplot.mjs").default.Options} Options */

/**
 * @typedef {object} Steps
 * @property {(position: number) => string} name
 * @property {() => number} count
 * @property {() => number[]} marks the steps in which the link changed
 * @property {(position: number | null) => void} onPoint the step under the pointer
 */

const HEIGHT = 180;
const MAX_POINTS = 60;
// Steps and clicks are whole numbers, so that their axes have no fractions.
const WHOLE = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map(factor => factor * 10 ** power)).flat();
const LABEL_PIXELS = 80;

/**
 * @param {HTMLElement} element
 * @param {Steps} steps
 * @returns {Options}
 */
export function optionsOf(element, { name, count, marks, onPoint }) {
    /** A colour of the style sheet. It differs between light and dark, so an element has it.
     * @param {import("./chart.js").Color} role
     */
    const color = role => () => {
        const holder = element.parentElement?.querySelector(`[data-color=${role}]`);
        return holder ? getComputedStyle(holder).color : "";
    };
    const axis = { stroke: color("text"), grid: { stroke: color("grid"), width: 1 }, ticks: { show: false } };
    const points = { show: () => count() <= MAX_POINTS };
    return {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: {
            // A single step stands in the middle.
            x: { time: false, range: () => (count() === 1 ? [-1, 1] : [0, Math.max(1, count() - 1)]) },
            y: { range: (_, _least, most) => [0, Math.max(4, most * 1.05)] },
        },
        axes: [
            {
                ...axis,
                incrs: WHOLE,
                size: 28,
                space: LABEL_PIXELS,
                values: (_, positions) => positions.map(position => (0 <= position && position < count() ? name(position) : "")),
            },
            {
                ...axis,
                incrs: WHOLE,
                size: 48,
                values: (_, counts) => counts.map(clicks => clicks.toLocaleString(document.documentElement.lang)),
            },
        ],
        series: [
            {},
            { stroke: color("clicks"), fill: color("area"), width: 2, points },
            { stroke: color("unique"), width: 2, points },
            { stroke: color("before"), width: 2, dash: [6, 4], points: { show: false } },
        ],
        hooks: {
            setCursor: [plot => onPoint(plot.cursor.idx ?? null)],
            draw: [plot => marks().forEach(position => drawMark(plot, position, color("text")()))],
        },
    };
}

/**
 * A line from the top of the chart to its bottom, with a triangle on it.
 * @param {import("../../vendor/uplot.mjs").default} plot
 * @param {number} position
 * @param {string} color
 */
function drawMark({ ctx, bbox, valToPos }, position, color) {
    const [x, size] = [Math.round(valToPos(position, "x", true)), 5 * devicePixelRatio];
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = color;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - size, bbox.top);
    ctx.lineTo(x + size, bbox.top);
    ctx.lineTo(x, bbox.top + size);
    ctx.fill();
    ctx.restore();
}
