/** The tags of the workspace with their colours: lists show them, and fields suggest them. */
import { call } from "./api.js";
import { computed, signal } from "./html.js";
import { hueOf } from "./hues.js";

/** @typedef {import("./endpoints.js").Schemas["Tag"]} Tag */

const PER_CALL = 100;
/** Beyond these, tags have the hue of their name, and are typed. */
const MOST_CALLS = 10;

/** The most used first. */
const known = signal(/** @type {Tag[]} */ ([]));
const colors = computed(() => new Map(known.value.map(({ name, color }) => [keyOf(name), color])));

/** Spellings that differ only in case are one tag. @param {string} name */
const keyOf = name => name.toLowerCase();

export const tagNames = computed(() => known.value.map(({ name }) => name));

/** Loads the tags again: other members may have changed them. */
export async function loadTags() {
    /** @type {Tag[]} */
    const loaded = [];
    try {
        for (let page = 1; page <= MOST_CALLS; page++) {
            const query = { page, limit: PER_CALL, sortBy: "linkCount", sortOrder: "desc" };
            const { tags, pagination } = await call("GET", "/tags", { query });
            loaded.push(...tags);
            if (page >= pagination.pages) break;
        }
        known.value = loaded;
    } catch {
        // The page itself reports a service that is away.
    }
}

/**
 * The attributes of an element that names a tag: its own colour, or the hue of its name.
 * @param {string} name
 */
export const tagLook = name => lookOf(name, colors.value.get(keyOf(name)));

/**
 * @param {string} name
 * @param {string | null | undefined} color
 * @returns {Record<string, string>}
 */
export const lookOf = (name, color) => (color ? { class: "tag own", style: `--own:${color}` } : { class: `tag ${hueOf(name)}` });
