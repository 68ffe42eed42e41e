/** Reads the chosen file. */
import { t } from "../../core/texts.js";

/** Larger files need `manage.py import_links`, which does not hold a file in memory. */
const MAX_BYTES = 20_000_000;
/** UTF-16 begins with these bytes, such as the "Unicode text" of Excel. */
const MARKS = /** @type {const} */ ([
    ["utf-16le", 0xff, 0xfe],
    ["utf-16be", 0xfe, 0xff],
]);

/**
 * The text and the encoding that it has. Throws an Error with a message for the user.
 * @param {File} file
 */
export async function textOf(file) {
    if (file.size > MAX_BYTES) throw new Error(t("import.tooLarge", { megabytes: MAX_BYTES / 1_000_000 }));
    try {
        return decoded(new Uint8Array(await file.arrayBuffer()));
    } catch (error) {
        throw new Error(t("import.unreadable"), { cause: error });
    }
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
function decoded(bytes) {
    const marked = MARKS.find(([, first, second]) => bytes[0] === first && bytes[1] === second);
    if (marked !== undefined) return { text: new TextDecoder(marked[0]).decode(bytes), encoding: marked[0] };
    try {
        // Without `fatal`, replacement characters would be imported.
        return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), encoding: "utf-8" };
    } catch {
        // Every byte is a character of it. The page says so, because only its user can see whether that is right.
        return { text: new TextDecoder("windows-1252").decode(bytes), encoding: "windows-1252" };
    }
}
