/** The links of a workspace that its report covers: the chosen ones and their creator, with the names that the address lacks. */
import { account, workspace } from "../../core/account.js";
import { readLink } from "../../core/endpoints.js";
import { signal, useEffect } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { listOf } from "../../core/lists.js";
import { nameOf } from "../../core/people.js";
import { query } from "../../core/router.js";
import { t } from "../../core/texts.js";
import { useLoaded } from "../../parts/loaded.js";

/** @typedef {import("./filter_bar.js").Chip} Chip */
/** @typedef {{members: {_id: string, name: string}[], links: ReadonlyMap<string, string>}} Names */

/** As many as the API takes. */
export const MOST_LINKS = 100;
/** Further ones share a chip. */
const MOST_CHIPS = 5;

const links = signal(/** @type {ReadonlyMap<string, string>} */ (new Map()));

/** @param {readonly {_id: string, title?: string | null, shortUrl: string}[]} found */
export function adoptNames(found) {
    links.value = new Map([...links.peek(), ...found.map(({ _id, title, shortUrl }) => /** @type {const} */ ([_id, title || withoutScheme(shortUrl)]))]);
}

const chosenLinks = () => listOf(query.value.get("urlIds") ?? "");

/**
 * The names of the chosen links, and the members, if the address or the open form needs them.
 * @param {import("./report.js").Report} report
 * @param {boolean} isChoosing
 * @returns {Names}
 */
export function useNames({ isOfLink }, isChoosing) {
    const shown = isOfLink ? "" : chosenLinks().slice(0, MOST_CHIPS).join(",");
    const team = !isOfLink && workspace.value?.isPersonal === false && (isChoosing || query.value.has("creator")) ? workspace.value._id : null;
    const members = useLoaded(() => (team === null ? Promise.resolve([]) : import("../workspaces/endpoints.js").then(({ listMembers }) => listMembers(team))), [team]).value ?? [];
    useEffect(() => {
        // A link that is gone keeps its id.
        for (const id of listOf(shown)) if (!links.peek().has(id)) readLink(id).then(link => adoptNames([link]), () => {});
    }, [shown]);
    return { members: members.map(member => ({ _id: member._id, name: nameOf(member) })), links: links.value };
}

/** @param {Names} names @returns {Chip[]} */
export function chipsOfCreator({ members }) {
    const creator = query.value.get("creator") ?? "";
    if (creator === "") return [];
    const own = account.value?._id === creator ? account.value.email : creator;
    return [{ key: "creator", label: t("filters.creator"), value: members.find(({ _id }) => _id === creator)?.name ?? own, without: { creator: null } }];
}

/**
 * A chip for each link, up to a number of them, and one for all others.
 * @param {Names} names
 * @returns {Chip[]}
 */
export function chipsOfLinks({ links: named }) {
    const chosen = chosenLinks();
    const [shown, others] = [chosen.slice(0, MOST_CHIPS), chosen.slice(MOST_CHIPS)];
    const chips = shown.map(id => ({
        key: `urlIds ${id}`,
        label: t("filters.link"),
        value: named.get(id) ?? id,
        without: { urlIds: chosen.filter(other => other !== id).join(",") || null },
    }));
    if (others.length === 0) return chips;
    return [...chips, { key: "urlIds", label: t("links.title"), value: t("filters.moreLinks", { count: others.length }), without: { urlIds: shown.join(",") } }];
}
