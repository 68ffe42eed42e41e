/** Moves the selected links to another workspace. The dialog lists the links that the API refuses, and their reasons. */
import { moveLinks } from "../../core/endpoints.js";
import { html, signal } from "../../core/html.js";
import { withoutScheme } from "../../core/hues.js";
import { isolated, refusalText, t } from "../../core/texts.js";
import { toast } from "../../core/toasts.js";
import { Dialog } from "../../parts/dialog.js";
import { MoveForm, workspacesToMoveTo } from "../../parts/move_form.js";
import { Sending } from "../../parts/sending.js";
import { nameOfWorkspace } from "../../parts/workspace_switch.js";
import { load, select, selected } from "./state.js";

/** @typedef {import("./state.js").ListedUrl} ListedUrl */
/** @typedef {{link: ListedUrl, message: string}} Refusal */

const MAX_LISTED = 3;

/** @param {ListedUrl} link */
const nameOf = link => withoutScheme(link.shortUrl);

/** The workspaces that can get the links of this one. */
const targets = () => workspacesToMoveTo("editor");

// Outside the components: a move goes on when its links are no longer selected, and on other pages.
const isOpen = signal(false);
const chosen = signal("");
const refusals = signal(/** @type {Refusal[]} */ ([]));
const sending = new Sending();

function open() {
    refusals.value = [];
    sending.errors.value = {};
    isOpen.value = true;
}

/** @param {import("../../core/account.js").Workspace} target */
async function moveSelected(target) {
    const links = [...selected.value.values()];
    try {
        const { results, succeeded } = await moveLinks(links.map(({ _id }) => _id), target._id);
        refusals.value = results.flatMap(result =>
            result.success ? [] : { link: links[result.index], message: refusalText(result) },
        );
        if (succeeded > 0) toast(t("move.moved", { count: succeeded, workspace: isolated(nameOfWorkspace(target)) }));
        // An earlier call, whose response was lost, may have moved the links that are not found.
        const gone = results.filter(result => result.success || result.code === "not_found");
        select(gone.map(({ index }) => links[index]), false);
    } finally {
        // The API may have moved the links although its response was lost.
        load();
    }
}

/** @param {import("../../core/account.js").Workspace} target */
async function submit(target) {
    const isDone = await sending.run(() => moveSelected(target));
    if (isDone && refusals.value.length === 0) isOpen.value = false;
    else if (!isOpen.value) messages(isDone).forEach(message => toast(message, { kind: "failed" }));
}

/**
 * The messages for a user who has closed the dialog. A toast has space for a few refusals only.
 * @param {boolean} isDone
 */
function messages(isDone) {
    if (!isDone) return Object.values(sending.errors.value);
    const listed = refusals.value.slice(0, MAX_LISTED).map(({ link, message }) => `${nameOf(link)}: ${message}`);
    if (refusals.value.length > MAX_LISTED) listed.push("…");
    return [`${t("move.refused", { count: refusals.value.length })} ${listed.join(" ")}`];
}

export function Moving() {
    if (targets().length === 0) return null;
    return html`<button class="small-button" onClick=${open}>${t("move.open")}</button>`;
}

/** Not part of the selection, which disappears with the last selected link. */
export function MovingDialog() {
    const workspaces = targets();
    if (workspaces.length === 0) return null;
    return html`
        <${Dialog} isOpen=${isOpen} title=${t("move.title", { count: refusals.value.length || selected.value.size })}>
            ${refusals.value.length > 0
                ? html`<${Refusals} of=${refusals.value} />`
                : html`<${MoveForm}
                      text=${t("move.text")}
                      label=${t("move.now")}
                      targets=${workspaces}
                      chosen=${chosen}
                      sending=${sending}
                      onMove=${submit}
                      onCancel=${() => (isOpen.value = false)}
                  />`}
        <//>
    `;
}

/** @param {{of: Refusal[]}} properties */
const Refusals = ({ of: refused }) => html`
    <div role="alert">
        <p>${t("move.refused", { count: refused.length })}</p>
        <ul>
            ${refused.map(
                ({ link, message }) => html`
                    <li key=${link._id}><bdi>${nameOf(link)}</bdi>: ${message}</li>
                `,
            )}
        </ul>
    </div>
`;
