/** The links of a filter, which people know by their short URLs, and the API by their ids. */
import { ApiError } from "../../core/api.js";
import { listLinks, readLink } from "../../core/endpoints.js";
import { withoutScheme } from "../../core/hues.js";
import { t } from "../../core/texts.js";

/** A link that no longer exists keeps its id. @param {string} id */
const nameOf = id => readLink(id).then(({ shortUrl }) => withoutScheme(shortUrl), () => id);

/** @param {string[]} ids */
export const namesOfLinks = ids => Promise.all(ids.map(nameOf));

/**
 * The ids of links with these short URLs. Throws an ApiError for one that there is not.
 * @param {string[]} names
 * @param {Map<string, string>} known ids by short URL
 */
export const idsOfLinks = (names, known) =>
    Promise.all(
        names.map(async name => {
            const id = known.get(name);
            if (id !== undefined) return id;
            const { urls } = await listLinks({ search: name, limit: 5 }, new AbortController().signal);
            const found = urls.find(({ shortUrl }) => withoutScheme(shortUrl) === withoutScheme(name));
            if (found !== undefined) return found._id;
            const message = t("webhooks.noLink", { link: name });
            throw new ApiError(400, "unknown_link", message, [{ field: "filters.urlIds", code: "unknown_link", message }]);
        }),
    );
