"""Judges whether what concurrent clients saw is what one copy of the data would have shown them.

`register_problem` decides whether a register is linearizable, by the algorithm of Wing and Gong with Lowe's memory of
states, as Knossos and Porcupine do (G. Lowe, "Testing for linearizability", 2017). `set_problems` judges a set as
Jepsen's checker `set-full` judges a linearizable one.

No published checker can be installed from PyPI, npm or Debian: Knossos and Elle need the JVM, Porcupine needs Go. This
one gives the verdicts that Porcupine's tests expect of 102 histories that Jepsen recorded.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import inf

# Of states for one register. Beyond, no verdict is possible.
MOST_STATES = 1_000_000


@dataclass(frozen=True)
class Operation:
    """``began`` and ``ended`` are seconds of one clock. ``ended`` is infinite if the outcome is unknown.

    A read returns ``value``. A write stores it. A compare-and-set stores it if the register holds ``expected``; with
    ``is_refused``, it found another value.
    """

    kind: str
    began: float
    ended: float
    value: Hashable = None
    expected: Hashable = None
    is_refused: bool = False

    def apply(self, state: Hashable) -> tuple[bool, Hashable]:
        """Whether it may happen in this state, and the state afterwards."""
        match self.kind:
            case "read":
                return state == self.value, state
            case "write":
                return True, self.value
            case _ if self.is_refused:
                return state != self.expected, state
            case _:
                return state == self.expected, self.value


def register_problem(initial: Hashable, history: Iterable[Operation]) -> str | None:
    """Why the history of a register is not linearizable, or None if it is."""
    operations = sorted(_relevant(history), key=lambda operation: operation.began)
    required = sum(1 << number for number, one in enumerate(operations) if one.ended != inf)
    # Depth first. A state is the set of operations that have happened and the value of the register.
    start = (0, initial)
    pending, seen, furthest = [start], {start}, 0
    while pending:
        done, value = pending.pop()
        if done & required == required:
            return None
        if done.bit_count() > furthest.bit_count():
            furthest = done
        for number in _next(operations, done):
            happens, after = operations[number].apply(value)
            state = (done | 1 << number, after)
            if happens and state not in seen:
                if len(seen) == MOST_STATES:
                    return f"undecided after {MOST_STATES:,} states"
                seen.add(state)
                pending.append(state)
    stuck = [operations[number] for number in _next(operations, furthest)]
    return f"after {furthest.bit_count()} operations, none of these can be next: {stuck}"


def _relevant(history: Iterable[Operation]) -> list[Operation]:
    """Without the operations of unknown outcome whose value nobody has seen, of which there can be many.

    One of them may have refused a compare-and-set. Such refusals are left out, too, and prove nothing.
    """
    operations = [one for one in history if one.kind != "read" or one.ended != inf]
    since = inf
    while True:
        seen = {one.value for one in operations if one.kind == "read"}
        seen |= {one.expected for one in operations if one.kind == "cas" and not one.is_refused}
        unseen = [one for one in operations if one.ended == inf and one.value not in seen]
        if not unseen:
            return [one for one in operations if not one.is_refused or one.ended < since]
        since = min(since, *(one.began for one in unseen))
        operations = [one for one in operations if one not in unseen]


def _next(operations: Sequence[Operation], done: int) -> Iterable[int]:
    """The operations that may be next: none that has not happened ended before they began."""
    earliest_end = inf
    candidates = []
    for number in range((~done & (done + 1)).bit_length() - 1, len(operations)):
        operation = operations[number]
        if operation.began > earliest_end:
            break
        if not done >> number & 1:
            candidates.append(number)
            earliest_end = min(earliest_end, operation.ended)
    # The last is tried first: one that has surely happened, and of those the one that ended first.
    return sorted(candidates, key=lambda number: -operations[number].ended)


@dataclass(frozen=True)
class Addition:
    """``ended`` is infinite if the outcome is unknown."""

    value: Hashable
    began: float
    ended: float


@dataclass(frozen=True)
class Listing:
    values: frozenset[Hashable]
    began: float
    ended: float


def set_problems(additions: Iterable[Addition], listings: Iterable[Listing]) -> list[str]:
    """Elements that a listing lacks or has although it must not."""
    ordered = sorted(listings, key=lambda listing: listing.began)
    added = {one.value: one for one in additions}
    problems = [
        f"{value!r} was listed and never added"
        for value in {value for listing in ordered for value in listing.values} - added.keys()
    ]
    for value, addition in added.items():
        known_at = min([addition.ended, *(one.ended for one in ordered if value in one.values)])
        missing = [one for one in ordered if one.began > known_at and value not in one.values]
        early = [one for one in ordered if one.ended < addition.began and value in one.values]
        if missing:
            late = missing[-1].began - known_at
            problems.append(f"{value!r} is missing in {len(missing)} listings, the last {late:.3f} s later")
        if early:
            problems.append(f"{value!r} was listed before it was added")
    return problems
