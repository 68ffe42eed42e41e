/** Saves a file as a download of the browser. */

/** @param {{name: string, content: Blob}} file */
export function save({ name, content }) {
    const address = URL.createObjectURL(content);
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
