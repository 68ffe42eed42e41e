/** The search of the command palette: one field that finds links, pages and actions. */
import { may } from "../core/account.js";
import { isAbort } from "../core/api.js";
import { copy } from "../core/clipboard.js";
import { listLinks } from "../core/endpoints.js";
import { report } from "../core/failures.js";
import { hostOf, hueOf, withoutScheme } from "../core/hues.js";
import { html, useEffect, useRef, useSignal } from "../core/html.js";
import { chooseTheme } from "../core/preferences.js";
import { navigate } from "../core/router.js";
import { signOut } from "../core/session.js";
import { t } from "../core/texts.js";
import { destinationOf } from "../core/status.js";
import { pagesToFind } from "../pages/routes.js";
import { Icon } from "./icon.js";

/** @typedef {import("./icon.js").IconName} IconName */
/** @typedef {{id: string, text: string, detail?: string, icon?: IconName, tile?: {letter: string, hue: string}, run: () => void}} Entry */
/** @typedef {import("../core/endpoints.js").ListedUrl} ListedUrl */

const TYPING_MILLISECONDS = 150;
const MOST_LINKS = 6;

/**
 * The links that match, after a pause in typing. The former ones stay until the new ones arrive.
 * @param {string} text
 */
function useFoundLinks(text) {
    const found = useSignal(/** @type {ListedUrl[]} */ ([]));
    useEffect(() => {
        const stopped = new AbortController();
        const timer = setTimeout(
            () =>
                listLinks({ search: text, archived: text === "" ? "no" : "any", limit: MOST_LINKS }, stopped.signal).then(
                    ({ urls }) => (found.value = urls),
                    error => isAbort(error) || (found.value = []),
                ),
            text === "" ? 0 : TYPING_MILLISECONDS,
        );
        return () => {
            clearTimeout(timer);
            stopped.abort();
        };
    }, [text]);
    return found.value;
}

/** @param {{onDone: () => void, onShortcuts: () => void}} properties */
export function Search({ onDone, onShortcuts }) {
    const typed = useSignal("");
    const at = useSignal(0);
    const list = useRef(/** @type {HTMLElement | null} */ (null));
    const field = useRef(/** @type {HTMLElement | null} */ (null));
    // The dialog may be open already.
    useEffect(() => field.current?.focus(), []);
    const text = typed.value.trim();
    const links = useFoundLinks(text);
    const groups = groupsOf(text, links, onShortcuts).filter(({ entries }) => entries.length > 0);
    const entries = groups.flatMap(group => group.entries);
    const position = Math.min(at.value, entries.length - 1);
    useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [position]);
    /** @param {Entry} entry */
    const run = entry => {
        onDone();
        entry.run();
    };
    /** @param {KeyboardEvent} event */
    const onKeyDown = event => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step !== undefined && entries.length > 0) {
            event.preventDefault();
            at.value = (position + step + entries.length) % entries.length;
        }
        if (event.key === "Enter" && entries[position] !== undefined) {
            event.preventDefault();
            run(entries[position]);
        }
    };
    return html`
        <div>
            <div class="query">
                <${Icon} name="search" />
                <input
                    ref=${field}
                    type="search"
                    role="combobox"
                    autofocus
                    aria-label=${t("palette.title")}
                    aria-expanded="true"
                    aria-controls="palette-list"
                    aria-activedescendant=${entries[position] === undefined ? undefined : `palette-${position}`}
                    placeholder=${t("palette.open")}
                    autocomplete="off"
                    spellcheck=${false}
                    value=${typed.value}
                    onInput=${(/** @type {any} */ event) => {
                        typed.value = event.target.value;
                        at.value = 0;
                    }}
                    onKeyDown=${onKeyDown}
                />
                <kbd>Esc</kbd>
            </div>
            <div ref=${list} role="listbox" id="palette-list" aria-label=${t("palette.title")}>
                ${groups.map(
                    group => html`
                        <div key=${group.label} role="group" aria-label=${group.label}>
                            <span aria-hidden="true">${group.label}</span>
                            ${group.entries.map(
                                entry => html`<${Option}
                                    key=${entry.id}
                                    entry=${entry}
                                    position=${entries.indexOf(entry)}
                                    isSelected=${entries[position] === entry}
                                    onPoint=${() => (at.value = entries.indexOf(entry))}
                                    onRun=${() => run(entry)}
                                />`,
                            )}
                        </div>
                    `,
                )}
            </div>
            <p class="foot">
                <span><kbd>↑</kbd> <kbd>↓</kbd> ${t("palette.move")}</span><span><kbd>↵</kbd> ${t("palette.choose")}</span>
            </p>
        </div>
    `;
}

/** @param {{entry: Entry, position: number, isSelected: boolean, onPoint: () => void, onRun: () => void}} properties */
const Option = ({ entry: { text, detail, icon, tile }, position, isSelected, onPoint, onRun }) => html`
    <div
        role="option"
        id=${`palette-${position}`}
        aria-selected=${isSelected ? "true" : "false"}
        onPointerMove=${onPoint}
        onClick=${onRun}
    >
        ${tile ? html`<span class="tile ${tile.hue}" aria-hidden="true">${tile.letter}</span>` : html`<${Icon} name=${icon ?? "link"} />`}
        <span class="cut" dir="auto">${text}</span>
        ${detail && html`<small class="cut url">${detail}</small>`}
    </div>
`;

/**
 * @param {string} text
 * @param {ListedUrl[]} links
 * @param {() => void} onShortcuts
 * @returns {{label: string, entries: Entry[]}[]}
 */
function groupsOf(text, links, onShortcuts) {
    /** @param {string} name */
    const matches = name => name.toLowerCase().includes(text.toLowerCase());
    const first = text === "" ? undefined : links[0];
    /** @type {Entry[]} */
    const actions = [
        ...(first === undefined
            ? []
            : [
                  { id: "copy", icon: /** @type {const} */ ("copy"), text: t("links.copy", { name: withoutScheme(first.shortUrl) }), run: () => copy(first.shortUrl) },
                  { id: "report", icon: /** @type {const} */ ("chart-no-axes-column"), text: t("report.of", { name: first.title || withoutScheme(first.shortUrl) }), run: () => navigate(`/dashboard/links/${first._id}/report`) },
              ]),
        ...(may("editor") && /[.:]/.test(text)
            ? [{ id: "new", icon: /** @type {const} */ ("plus"), text: t("palette.newTo", { address: text }), run: () => navigate(`/dashboard/new?url=${encodeURIComponent(text)}`) }]
            : []),
        ...[
            { id: "keys", icon: /** @type {const} */ ("keyboard"), text: t("footer.keys"), run: onShortcuts },
            { id: "light", icon: /** @type {const} */ ("sun-moon"), text: `${t("menu.theme")}: ${t("theme.light")}`, run: () => chooseTheme("light") },
            { id: "dark", icon: /** @type {const} */ ("moon"), text: `${t("menu.theme")}: ${t("theme.dark")}`, run: () => chooseTheme("dark") },
            { id: "system", icon: /** @type {const} */ ("sun-moon"), text: `${t("menu.theme")}: ${t("theme.system")}`, run: () => chooseTheme("") },
            { id: "out", icon: /** @type {const} */ ("log-out"), text: t("footer.signOut"), run: () => signOut().catch(report) },
        ].filter(entry => matches(entry.text)),
    ];
    return [
        { label: t("links.title"), entries: links.map(entryOf) },
        {
            label: t("palette.pages"),
            entries: pagesToFind()
                .map(({ address, label, icon }) => ({ id: address, icon, text: t(label), run: () => navigate(address) }))
                .filter(entry => matches(entry.text)),
        },
        { label: t("palette.actions"), entries: actions },
    ];
}

/**
 * @param {ListedUrl} link
 * @returns {Entry}
 */
function entryOf(link) {
    const host = hostOf(destinationOf(link));
    return {
        id: link._id,
        text: link.title || withoutScheme(destinationOf(link)),
        detail: withoutScheme(link.shortUrl),
        tile: { letter: (link.title || host).trim().charAt(0).toUpperCase(), hue: hueOf(host) },
        run: () => navigate(`/dashboard/links/${link._id}`),
    };
}
