/** One file that is being imported: first a dry run, then the rows that it accepted, in batches. */
import { ApiError, inOwnLanguage } from "../../core/api.js";
import { messageOf } from "../../core/failures.js";
import { signal } from "../../core/html.js";
import { newKey } from "../../core/idempotency.js";
import { refusalText, t } from "../../core/texts.js";
import { refusalOf } from "../utm/choice.js";
import { importLinks } from "./endpoints.js";
import { batches, cellsOf, rejectedRows, renamed, tableOf, wholeTable } from "./rows.js";

/** @typedef {import("./endpoints.js").Result} Result */
/** @typedef {import("./endpoints.js").Imported["hostChanges"][number]} HostChange */
/** @typedef {"checking" | "unchecked" | "checked" | "applying" | "paused" | "done"} Phase */

/** The limits of the API for a call. A dry run finds codes that occur twice in the same call. */
const CHECKED = { rows: 10_000, characters: 2_000_000 };
/** Small enough to show progress, and to lose little time when a call fails. */
const APPLIED = { rows: 200, characters: 2_000_000 };

/** More of a row would hide the others. */
const MAX_SOURCE = 200;

export class Run {
    /** @type {import("./endpoints.js").Format | undefined} */
    #format;
    /** The positions of the rows that remain to be imported, in batches. */
    #batches = /** @type {number[][]} */ ([]);
    #key = newKey();
    /** A later check replaces an earlier one. */
    #checks = 0;

    /**
     * @param {string} name of the file
     * @param {string} content
     * @param {string} [encoding]
     */
    constructor(name, content, encoding = "utf-8") {
        this.name = name;
        this.content = content;
        this.encoding = encoding;
        this.table = tableOf(content);
        this.phase = signal(/** @type {Phase} */ ("checking"));
        /** The last result of each row. */
        this.results = signal(/** @type {Result[]} */ ([]));
        this.imported = signal(0);
        this.isStopping = signal(false);
        this.problem = signal("");
        this.domainId = signal("");
        /** The UTM template of all links. */
        this.template = signal(/** @type {import("../utm/choice.js").UtmTemplate | undefined} */ (undefined));
        /** Whether the user has to say which column is which field. */
        this.isUnmapped = signal(false);
        /** The hosts that the links leave, by the last check. */
        this.hostChanges = signal(/** @type {HostChange[]} */ ([]));
    }

    /** Whether closing the page would leave the import half done. */
    get isHalfDone() {
        return this.phase.value === "applying" || this.phase.value === "paused";
    }

    get accepted() {
        return this.results.value.filter(result => result.success).length;
    }

    /**
     * The address in the row of the file, else its beginning. Empty if the file cannot be split.
     * @param {Result} result
     */
    sourceOf({ row }) {
        const { isWhole, rows, separator } = this.table;
        const source = isWhole ? "" : (rows[row - 1] ?? "");
        const cells = separator === undefined ? [...source.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, cell]) => cell) : cellsOf(source, separator);
        const addresses = cells.filter(cell => /^[a-z]+:\/\//i.test(cell));
        // One that is no web address is the reason for the refusal.
        const [address = source] = [...addresses.filter(cell => !/^https?:/i.test(cell)), ...addresses];
        return address.slice(0, MAX_SOURCE);
    }

    /**
     * Gives columns of the file the names of fields.
     * @param {Map<number, string>} names
     */
    rename(names) {
        this.table = renamed(this.table, names);
        this.content = this.table.join(this.table.rows);
        this.isUnmapped.value = false;
    }

    /**
     * Why a row is rejected.
     * @param {Result} result
     */
    messagesOf(result) {
        const messages = inOwnLanguage(result.errors).map(
            // Codes of other services may have more characters than new ones.
            error => `${error.field}: ${error.code === "code" ? t("import.badCode") : refusalOf(this.template.value, error)}`,
        );
        return messages.length > 0 ? messages : [refusalText(result)];
    }

    /** What each reason for a warning is, and how many rows have it. */
    get losses() {
        /** @type {Map<string, {field: string, message: string, count: number}>} */
        const losses = new Map();
        for (const { warnings = [] } of this.results.value) {
            for (const { field, message } of inOwnLanguage(warnings)) {
                const key = `${field} ${message}`;
                const count = (losses.get(key)?.count ?? 0) + 1;
                losses.set(key, { field, message, count });
            }
        }
        return [...losses.values()].sort((one, other) => other.count - one.count);
    }

    /** The rejected rows as a file; null if there are none, or if the file cannot be split. */
    get rejected() {
        if (this.table.isWhole) return null;
        const refused = this.results.value.filter(result => !result.success);
        if (refused.length === 0) return null;
        const reasons = new Map(refused.map(result => [result.row - 1, this.messagesOf(result).join(" ")]));
        return rejectedRows(this.table, reasons);
    }

    async check() {
        const own = ++this.#checks;
        this.phase.value = "checking";
        this.problem.value = "";
        this.#format = undefined;
        const { rows } = this.table;
        /** @type {Result[]} */
        const results = [];
        /** @type {HostChange[]} */
        const changes = [];
        try {
            if (rows.length === 0) throw new Error(t("import.empty"));
            for (const batch of batches([...rows.keys()], rows, CHECKED)) {
                const checked = await this.#send(batch, true);
                results.push(...checked.results);
                for (const change of checked.hostChanges) addTo(changes, change);
            }
        } catch (error) {
            if (own !== this.#checks) return;
            this.isUnmapped.value = this.table.head !== undefined && isUnknownFormat(error);
            this.problem.value = this.isUnmapped.value ? "" : (messageOf(error) ?? "");
            this.phase.value = "unchecked";
            return;
        }
        if (own !== this.#checks) return;
        // If the service counts other rows in the file, only the whole file can be sent.
        if (results.length !== rows.length) this.table = wholeTable(this.content);
        this.results.value = results.map((result, position) => ({ ...result, row: position + 1 }));
        this.hostChanges.value = changes;
        this.imported.value = 0;
        this.#batches = [...batches(this.#accepted(), this.table.rows, APPLIED)];
        this.phase.value = "checked";
    }

    /** Starts, or continues where it stopped. */
    async apply() {
        this.phase.value = "applying";
        this.problem.value = "";
        this.isStopping.value = false;
        try {
            while (this.#batches.length > 0 && !this.isStopping.value) {
                this.#record(this.#batches[0], (await this.#send(this.#batches[0], false)).results);
                this.#batches.shift();
                this.#key = newKey();
            }
            this.phase.value = this.#batches.length === 0 ? "done" : "paused";
        } catch (error) {
            // Without a response, the service may have imported the batch. For the same key, it repeats its response.
            if (error instanceof ApiError && error.isRefused) this.#key = newKey();
            this.problem.value = messageOf(error) ?? "";
            this.phase.value = "paused";
        }
    }

    /** Stops after the current batch. */
    stop() {
        this.isStopping.value = true;
    }

    #accepted() {
        const { rows, isWhole } = this.table;
        const results = this.results.value;
        return [...rows.keys()].filter(position => isWhole || results[position].success);
    }

    /**
     * @param {number[]} batch
     * @param {boolean} dryRun
     */
    async #send(batch, dryRun) {
        const content = this.table.join(batch.map(position => this.table.rows[position]));
        const body = { content, dryRun, domainId: this.domainId.value || undefined, utmTemplateId: this.template.value?._id, format: this.#format };
        const imported = await importLinks(body, dryRun ? undefined : this.#key);
        this.#format = imported.format;
        return imported;
    }

    /**
     * @param {number[]} batch
     * @param {Result[]} results
     */
    #record(batch, results) {
        const all = [...this.results.value];
        results.forEach((result, index) => {
            const position = this.table.isWhole ? index : batch[index];
            all[position] = { ...result, row: position + 1 };
        });
        this.results.value = all;
        this.imported.value += results.filter(result => result.success).length;
    }
}

/** @param {unknown} error */
const isUnknownFormat = error => error instanceof ApiError && error.errors.some(({ code }) => code === "unknown_format");

/**
 * Each call counts only its own rows.
 * @param {HostChange[]} changes
 * @param {HostChange} change
 */
function addTo(changes, change) {
    const known = changes.find(({ from, to }) => from === change.from && to === change.to);
    if (known === undefined) changes.push({ ...change });
    else known.links += change.links;
}
