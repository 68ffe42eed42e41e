/** Addresses as people type them. */

/**
 * `example.com/sale` with the scheme that everybody means. What has a scheme, or is no address, stays as it is: the API
 * says what is wrong with it.
 * @param {string} text
 */
export function withScheme(text) {
    const address = text.trim();
    const [host] = address.split(/[/?#]/, 1);
    const isHost = /^[^\s@:]+\.[^\s@:.]+(:\d+)?$/.test(host);
    return isHost && URL.canParse(`https://${address}`) ? `https://${address}` : address;
}

/**
 * The host name in a pasted address, such as `https://go.example.com/x`.
 * @param {string} text
 */
export const hostIn = text => text.trim().replace(/^[a-z][a-z\d+.-]*:\/\//i, "").replace(/(:\d+)?([/?#].*)?$/, "");
