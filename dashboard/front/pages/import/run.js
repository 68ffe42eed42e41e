/** One file that is being imported: first a dry run, then the rows that it accepted, in batches. */
import { ApiError } from "../../core/api.js";
import { messageOf } from "../../core/failures.js";
import { signal } from "../../core/html.js";
import { newKey } from "../../core/idempotency.js";
import { t } from "../../core/texts.js";
import { importLinks } from "./endpoints.js";
import { batches, tableOf, wholeTable } from "./rows.js";

/** @typedef {import("./endpoints.js").Result} Result */
/** @typedef {"checking" | "unchecked" | "checked" | "applying" | "paused" | "done"} Phase */

/** The limits of the API for a call. A dry run finds codes that occur twice in the same call. */
const CHECKED = { rows: 10_000, characters: 2_000_000 };
/** Small enough to show progress, and to lose little time when a call fails. */
const APPLIED = { rows: 200, characters: 2_000_000 };

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
     */
    constructor(name, content) {
        this.name = name;
        this.content = content;
        this.table = tableOf(content);
        this.phase = signal(/** @type {Phase} */ ("checking"));
        /** The last result of each row. */
        this.results = signal(/** @type {Result[]} */ ([]));
        this.imported = signal(0);
        this.isStopping = signal(false);
        this.problem = signal("");
        this.domainId = signal("");
    }

    /** Whether closing the page would leave the import half done. */
    get isHalfDone() {
        return this.phase.value === "applying" || this.phase.value === "paused";
    }

    get accepted() {
        return this.results.value.filter(result => result.success).length;
    }

    /**
     * The row as in the file. Empty if the file cannot be split.
     * @param {Result} result
     */
    sourceOf({ row }) {
        return this.table.isWhole ? "" : (this.table.rows[row - 1] ?? "");
    }

    async check() {
        const own = ++this.#checks;
        this.phase.value = "checking";
        this.problem.value = "";
        this.#format = undefined;
        const { rows } = this.table;
        /** @type {Result[]} */
        const results = [];
        try {
            if (rows.length === 0) throw new Error(t("import.empty"));
            for (const batch of batches([...rows.keys()], rows, CHECKED)) {
                results.push(...(await this.#send(batch, true)));
            }
        } catch (error) {
            if (own !== this.#checks) return;
            this.problem.value = messageOf(error) ?? "";
            this.phase.value = "unchecked";
            return;
        }
        if (own !== this.#checks) return;
        // If the service counts other rows in the file, only the whole file can be sent.
        if (results.length !== rows.length) this.table = wholeTable(this.content);
        this.results.value = results.map((result, position) => ({ ...result, row: position + 1 }));
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
                this.#record(this.#batches[0], await this.#send(this.#batches[0], false));
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
        const body = { content, dryRun, domainId: this.domainId.value || undefined, format: this.#format };
        const { results, format } = await importLinks(body, dryRun ? undefined : this.#key);
        this.#format = format;
        return results;
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
