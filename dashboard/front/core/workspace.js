/** The workspace in which this page acts. Its address names it, so that a reload, a bookmark and a sent link keep it. */

const PARAMETER = "workspace";

/** The id of a workspace. Null: the personal one, in which the API acts without X-Workspace. */
export const workspaceId = new URLSearchParams(location.search).get(PARAMETER) || null;

/**
 * Loads the list in another workspace.
 * @param {string | null} id
 */
export const chooseWorkspace = id =>
    location.assign(`/dashboard/${id === null ? "" : `?${new URLSearchParams({ [PARAMETER]: id })}`}`);

/**
 * An address below /dashboard/, in the workspace of this page.
 * @param {string} address
 */
export function inWorkspace(address) {
    if (workspaceId === null) return address;
    const url = new URL(address, location.origin);
    url.searchParams.set(PARAMETER, workspaceId);
    return url.pathname + url.search + url.hash;
}
