/** The kinds of the fields of a link. `make front` writes this module from links/fields.py. */

export const LINK_FIELDS = /** @type {const} */ ({
    customCode: "text",
    title: "text",
    description: "text",
    tags: "list",
    expiresAt: "moment",
    utm: "json",
    redirectType: "choice",
    isActive: "flag",
    targetUrl: "url",
    startsAt: "moment",
    notStartedUrl: "url",
    expiredUrl: "url",
    fallbackUrl: "url",
    healthCheck: "choice",
    forwardQuery: "flag",
    referrerPolicy: "choice",
    rules: "json",
    split: "json",
    preview: "json",
    externalId: "text",
    isArchived: "flag",
});
/** The API nests these in `restrictions`. */
export const RESTRICTIONS = /** @type {const} */ ({
    maxClicks: "count",
    maxClicksPerVisitor: "count",
    allowedCountries: "list",
    blockedCountries: "list",
    allowedDevices: "list",
});
