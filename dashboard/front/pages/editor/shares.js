/** The shares of the entries of a split. */

/**
 * The shares after the one at a position got another weight, which its right neighbour gains or loses. Both keep at least
 * one percent.
 * @param {readonly number[]} shares
 * @param {number} at
 * @param {number} weight
 */
export function moved(shares, at, weight) {
    const sum = shares[at] + shares[at + 1];
    const own = Math.max(1, Math.min(weight, sum - 1));
    return sum < 2 ? [...shares] : shares.map((share, index) => (index === at ? own : index === at + 1 ? sum - own : share));
}

/**
 * The percent that the entries of a split leave to the destination of the link.
 * @param {readonly {weight: number}[]} split
 */
export const restOf = split => 100 - split.reduce((sum, { weight }) => sum + (weight || 0), 0);
