/** Where a link leads, and its status. */

export const STATUSES = /** @type {const} */ (["active", "scheduled", "expired", "limit_reached", "disabled", "banned", "domain_inactive"]);

export const HEALTH_CHECKS = /** @type {const} */ (["off", "weekly", "daily"]);

/** @typedef {(typeof STATUSES)[number]} Status */
/** @typedef {{status: Status, startsAt?: string | null, expiresAt?: string | null}} Stated */

/** @param {{originalUrl: string, targetUrl?: string | null}} link */
export const destinationOf = ({ targetUrl, originalUrl }) => targetUrl || originalUrl;
