/** Where a link leads, and its status. The API says both; for an older one, the page computes what it can. */

/** @typedef {"active" | "scheduled" | "expired" | "limit_reached" | "disabled" | "banned" | "domain_inactive"} Status */
/** @typedef {Pick<import("./endpoints.js").ListedUrl, "originalUrl" | "isActive" | "expiresAt"> & {targetUrl?: string | null, startsAt?: string | null, status?: string}} Stated */

/** @param {Stated} link */
export const destinationOf = ({ targetUrl, originalUrl }) => targetUrl || originalUrl;

/**
 * @param {Stated} link
 * @returns {Status}
 */
export function statusOf({ status, isActive, startsAt, expiresAt }) {
    if (status !== undefined) return /** @type {Status} */ (status);
    if (!isActive) return "disabled";
    if (expiresAt !== null && new Date(expiresAt) <= new Date()) return "expired";
    return startsAt && new Date(startsAt) > new Date() ? "scheduled" : "active";
}
