/** How people are named: by the names that they have given, else by their address. */

/** @typedef {{firstName: string, lastName: string, email: string}} Person */

/** @param {Person} person */
export const nameOf = ({ firstName, lastName, email }) => `${firstName} ${lastName}`.trim() || email;

/** @param {Person} person */
export function initialsOf(person) {
    const [first = "", second = ""] = nameOf(person).split(/[\s@.]+/);
    return `${[...first][0] ?? ""}${[...second][0] ?? ""}`.toUpperCase();
}
