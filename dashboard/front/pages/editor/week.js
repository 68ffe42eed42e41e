/** The schedules of a condition as the 168 hours of a week, from Monday, and back. */

/** @typedef {{days: string[], from: string, until: string, timezone: string}} Schedule */

export const DAYS = /** @type {const} */ (["mon", "tue", "wed", "thu", "fri", "sat", "sun"]);
export const HOURS = 24;

/**
 * Null if the hours of a week cannot say the same: times within an hour, or several time zones.
 * @param {readonly Partial<Schedule>[]} schedules
 * @returns {boolean[] | null}
 */
export function hoursOf(schedules) {
    const hours = Array.from({ length: DAYS.length * HOURS }, () => false);
    if (new Set(schedules.map(({ timezone }) => timezone)).size > 1) return null;
    for (const { days = [], from = "", until = "" } of schedules) {
        if (![from, until].every(time => /^\d\d:00$/.test(time))) return null;
        const start = Number.parseInt(from, 10);
        const end = Number.parseInt(until, 10);
        // Not later than the start: it ends on the next day.
        const length = end > start ? end - start : end - start + HOURS;
        for (const day of days) {
            const first = DAYS.findIndex(name => name === day) * HOURS + start;
            if (first < 0) return null;
            for (let hour = first; hour < first + length; hour++) hours[hour % hours.length] = true;
        }
    }
    return hours;
}

/**
 * One schedule for each run of hours, with all days that have the same run.
 * @param {readonly boolean[]} hours
 * @param {string} timezone
 * @returns {Schedule[]}
 */
export function schedulesOf(hours, timezone) {
    /** @type {Map<string, Schedule>} */
    const schedules = new Map();
    DAYS.forEach((day, at) => {
        const own = hours.slice(at * HOURS, (at + 1) * HOURS);
        for (let start = own.indexOf(true); start >= 0; start = own.indexOf(true, start)) {
            const next = own.indexOf(false, start);
            const end = next < 0 ? HOURS : next;
            const from = timeOf(start);
            const until = timeOf(end % HOURS);
            const schedule = schedules.get(`${from} ${until}`) ?? { days: [], from, until, timezone };
            schedule.days.push(day);
            schedules.set(`${from} ${until}`, schedule);
            if (next < 0) break;
            start = end;
        }
    });
    return [...schedules.values()];
}

/** @param {number} hour */
export const timeOf = hour => `${String(hour).padStart(2, "0")}:00`;
