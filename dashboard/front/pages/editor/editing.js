/** One link that is being edited: its fields, the API's messages about them, and saving. */
import { ApiError } from "../../core/api.js";
import { createLink, readLinkVersion, updateLink } from "../../core/endpoints.js";
import { errorsByField, report } from "../../core/failures.js";
import { signal } from "../../core/html.js";
import { newKey } from "../../core/idempotency.js";
import { path } from "../../core/router.js";
import { archivedToast } from "../../parts/archived.js";
import { actorOf } from "../history/actors.js";
import { listLinkChanges } from "../history/endpoints.js";
import { dropDraft, keepDraft, readDraft } from "./drafts.js";
import { changesOf, copyOf, emptyFields, fieldsOf, typedFields } from "./model.js";

/** @typedef {import("./model.js").Fields} Fields */
/** @typedef {import("../../core/endpoints.js").Url} Url */
/** @typedef {import("../../core/endpoints.js").LinkVersion} LinkVersion */

export class Editing {
    /**
     * @param {LinkVersion | null} read null: a new link
     * @param {Partial<Fields>} given fields of a new link. Each has a draft of its own.
     * @param {Url | null} copied the link whose fields a new link starts with
     */
    constructor(read, given = {}, copied = null) {
        this.id = read?.link._id ?? null;
        this.draft = this.id ?? `new ${copied?._id ?? Object.values(given).join(" ")}`;
        this.link = signal(read?.link ?? null);
        /** @type {Fields} */
        this.before = read === null ? { ...emptyFields(), ...given } : fieldsOf(read.link);
        /** The version that has the fields of `before`. */
        this.version = read?.version;
        /** The API's messages, by field. `""` has the messages about fields that the page does not have. */
        this.errors = signal(/** @type {Record<string, string>} */ ({}));
        this.isSaving = signal(false);
        /** The version that somebody else has saved since the link was read. */
        this.conflict = signal(/** @type {LinkVersion | null} */ (null));
        /** Who saved it, as soon as the history has said so. */
        this.rival = signal("");
        this.idempotencyKey = newKey();
        const draft = readDraft(this.draft);
        /** @type {import("../../core/html.js").Signal<Fields>} */
        this.fields = signal({ ...this.before, ...(copied && copyOf(copied)), ...draft?.typed });
        if (read !== null && draft?.before !== undefined && draft.version !== undefined && draft.version !== this.version) {
            // A draft of an earlier version of this page lacks the fields that it did not know.
            this.before = { ...this.before, ...draft.before };
            this.version = draft.version;
            this.fields.value = { ...this.before, ...draft.typed };
            this.#compare(read);
        }
    }

    get isChanged() {
        return Object.keys(changesOf(this.fields.value, this.before)).length > 0;
    }

    /** @param {Partial<Fields>} changes */
    change(changes) {
        this.fields.value = { ...this.fields.value, ...changes };
        keepDraft(this.draft, this.fields.value, this.before, this.version);
    }

    /** Discards all unsaved changes. */
    reset() {
        dropDraft(this.draft);
        this.fields.value = this.before;
        this.merge();
        this.errors.value = {};
    }

    /**
     * Loads the state of the service, and keeps the changes that were made since `before`.
     * @param {LinkVersion} read
     * @param {Fields} before
     */
    adopt(read, before) {
        const typed = typedFields(this.fields.value, before);
        this.link.value = read.link;
        this.before = fieldsOf(read.link);
        this.version = read.version;
        this.conflict.value = null;
        this.fields.value = this.before;
        this.change(typed);
    }

    /** Loads the version that somebody else saved. */
    merge() {
        if (this.conflict.value !== null) this.adopt(this.conflict.value, this.before);
    }

    /**
     * Returns the id of the link; null if it was not saved.
     * @param {{overwrites?: boolean}} [options]
     */
    async save({ overwrites = false } = {}) {
        this.isSaving.value = true;
        this.errors.value = {};
        try {
            return this.id === null ? await this.#create() : await this.#update(this.id, overwrites);
        } catch (error) {
            this.errors.value = errorsOf(error);
            return null;
        } finally {
            this.isSaving.value = false;
        }
    }

    /**
     * Archives the link, or brings it back, at once. What is typed stays unsaved.
     * @param {boolean} isArchived
     */
    async archive(isArchived) {
        const id = String(this.id);
        try {
            await updateLink(id, { isArchived }, this.version);
            this.adopt(await readLinkVersion(id), this.before);
            archivedToast(1, isArchived, () => this.archive(!isArchived));
            // After an undo from the list.
            if (path.value === "/dashboard/") await (await import("../links/state.js")).load();
        } catch (error) {
            if (error instanceof ApiError && error.status === 412) this.#compare(await readLinkVersion(id));
            else report(error);
        }
    }

    async #create() {
        const sent = this.fields.value;
        try {
            const { url } = await createLink(/** @type {any} */ (changesOf(sent, emptyFields())), this.idempotencyKey);
            dropDraft(this.draft);
            // The editor of the new link gets the input that followed.
            keepDraft(url._id, this.fields.value, sent);
            return url._id;
        } catch (error) {
            // After a refusal the user changes the input, and the API refuses the same key with another body.
            if (error instanceof ApiError && error.isRefused) this.idempotencyKey = newKey();
            throw error;
        }
    }

    /**
     * @param {string} id
     * @param {boolean} overwrites what `conflict` has
     */
    async #update(id, overwrites) {
        const sent = this.fields.value;
        const version = overwrites ? this.conflict.value?.version : this.version;
        try {
            await updateLink(id, /** @type {any} */ (changesOf(sent, this.before)), version);
        } catch (error) {
            if (!(error instanceof ApiError && error.status === 412)) throw error;
            return this.#compare(await readLinkVersion(id)) ? id : null;
        }
        this.adopt(await readLinkVersion(id), sent);
        return id;
    }

    /**
     * Returns whether the new version has all changes of this page: then this page saved it, and the response was lost.
     * @param {LinkVersion} read
     */
    #compare(read) {
        /** @type {boolean} */
        const isSaved = Object.keys(changesOf(this.fields.value, fieldsOf(read.link))).length === 0;
        if (isSaved) this.adopt(read, this.fields.value);
        else {
            this.conflict.value = read;
            this.rival.value = "";
            // The conflict can be solved without a name.
            authorOf(read.link).then(author => (this.rival.value = author), () => {});
        }
        return isSaved;
    }
}

/**
 * Who made the last version of a link; empty if the history has no such change.
 * @param {Url} link
 */
async function authorOf({ _id, updatedAt }) {
    const [newest] = (await listLinkChanges(_id, {})).changes;
    return newest?.changedAt === updatedAt ? actorOf(newest) : "";
}

/** @param {unknown} error */
function errorsOf(error) {
    const isTaken = error instanceof ApiError && error.code === "code_taken";
    return isTaken ? { customCode: error.message } : errorsByField(error);
}
