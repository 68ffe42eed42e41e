/** Reads the chosen file. */
import { t } from "../../core/texts.js";

/** Larger files need `manage.py import_links`, which does not hold a file in memory. */
const MAX_BYTES = 20_000_000;

/**
 * Throws an Error with a message for the user.
 * @param {File} file
 */
export async function textOf(file) {
    if (file.size > MAX_BYTES) throw new Error(t("import.tooLarge", { megabytes: MAX_BYTES / 1_000_000 }));
    try {
        // Without `fatal`, replacement characters would be imported.
        return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch (error) {
        throw new Error(t(error instanceof TypeError ? "import.notUtf8" : "import.unreadable"), { cause: error });
    }
}
