/** The endpoints of workspaces, their members and invitations. */
import { call } from "../../core/api.js";

/** @typedef {import("../../types/api.js").components["schemas"]} Schemas */
/** @typedef {Schemas["Workspace"]} Workspace */
/** @typedef {Schemas["Member"]} Member */
/** @typedef {Schemas["Invitation"]} Invitation */
/** @typedef {Schemas["NewInvitation"]} NewInvitation */
/** @typedef {Member["role"]} Role */

/** @returns {Promise<Workspace[]>} */
export const listWorkspaces = async () => (await call("GET", "/workspaces")).workspaces;

/**
 * @param {string} name
 * @param {string} idempotencyKey
 * @returns {Promise<Workspace>}
 */
export const createWorkspace = async (name, idempotencyKey) =>
    (await call("POST", "/workspaces", { body: { name }, idempotencyKey })).workspace;

/**
 * @param {string} id
 * @returns {Promise<Workspace>}
 */
export const readWorkspace = async id => (await call("GET", `/workspaces/${id}`)).workspace;

/**
 * @param {string} id
 * @param {string} name
 */
export const renameWorkspace = (id, name) => call("PATCH", `/workspaces/${id}`, { body: { name } });

/**
 * @param {string} id
 * @param {Workspace["healthCheck"]} healthCheck
 */
export const checkDestinations = (id, healthCheck) => call("PATCH", `/workspaces/${id}`, { body: { healthCheck } });

/** @param {string} id */
export const deleteWorkspace = id => call("DELETE", `/workspaces/${id}`);

/**
 * @param {string} id
 * @returns {Promise<Member[]>}
 */
export const listMembers = async id => (await call("GET", `/workspaces/${id}/members`)).members;

/**
 * @param {string} id
 * @param {string} memberId
 * @param {Role} role
 */
export const changeRole = (id, memberId, role) => call("PATCH", `/workspaces/${id}/members/${memberId}`, { body: { role } });

/**
 * @param {string} id
 * @param {string} memberId
 */
export const removeMember = (id, memberId) => call("DELETE", `/workspaces/${id}/members/${memberId}`);

/**
 * @param {string} id
 * @returns {Promise<Invitation[]>}
 */
export const listInvitations = async id => (await call("GET", `/workspaces/${id}/invitations`)).invitations;

/**
 * @param {string} id
 * @param {Schemas["InviteRequest"]} body
 * @returns {Promise<NewInvitation>}
 */
export const invite = async (id, body) => (await call("POST", `/workspaces/${id}/invitations`, { body })).invitation;

/**
 * @param {string} id
 * @param {string} invitationId
 */
export const withdrawInvitation = (id, invitationId) => call("DELETE", `/workspaces/${id}/invitations/${invitationId}`);
