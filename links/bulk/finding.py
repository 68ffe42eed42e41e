"""Stores many links of which some need not be created, because there are equal ones (``findIfExists``).

An item finds a link that exists before the call, or one that an earlier item of the call creates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from accounts.models import Workspace
from common.database import in_one_transaction
from common.errors import ServiceError
from links.bulk.creation import store_drafts
from links.existing import Wanted, comparable, find_equals, lock_destinations
from links.models import Link
from links.storage.insert import Draft

Outcome = Draft | Link | ServiceError
# An item whose equal is refused is tried itself, unless both are the same. After these attempts, it is refused, too.
_ATTEMPTS = 4


def find_or_store(owner: Workspace, drafts: Sequence[Draft | ServiceError]) -> list[Outcome]:
    """As `store_drafts`; for a draft with an equal link, this link. Of parallel calls, one creates it."""
    if not any(isinstance(draft, Draft) and draft.given is not None for draft in drafts):
        return [*store_drafts(owner, drafts)]
    return in_one_transaction(lambda: _find_or_store(owner, drafts))


def _find_or_store(owner: Workspace, drafts: Sequence[Draft | ServiceError]) -> list[Outcome]:
    pending = {position: draft for position, draft in enumerate(drafts) if isinstance(draft, Draft)}
    wanted = {
        position: Wanted(draft.link, draft.given)
        for position, draft in pending.items()
        if draft.given is not None
    }
    lock_destinations(each.link for each in wanted.values())
    outcomes: dict[int, Outcome] = {
        **{position: draft for position, draft in enumerate(drafts) if isinstance(draft, ServiceError)},
        **find_equals(wanted),
    }
    pending = {position: draft for position, draft in pending.items() if position not in outcomes}
    stored: dict[int, Draft] = {}
    for _ in range(_ATTEMPTS):
        equals = _equals(stored, pending)
        first = {position: draft for position, draft in pending.items() if position not in equals}
        results = dict(zip(first, store_drafts(owner, list(first.values())), strict=True))
        stored |= {position: result for position, result in results.items() if isinstance(result, Draft)}
        outcomes |= results
        for position, equal in equals.items():
            result = stored.get(equal)
            outcomes[position] = outcomes[equal] if result is None else result.link
        pending = {
            position: pending[position]
            for position, equal in equals.items()
            if equal not in stored and pending[position].given != pending[equal].given
        }
        if not pending:
            break
    return [outcomes[position] for position in range(len(drafts))]


def _equals(stored: Mapping[int, Draft], pending: Mapping[int, Draft]) -> dict[int, int]:
    """For each draft that looks for a link, the first one before it that has what it looks for."""
    earlier = _Earlier()
    for position, draft in stored.items():
        earlier.add(position, draft)
    equals: dict[int, int] = {}
    for position, draft in pending.items():
        equal = None if draft.given is None else earlier.find(Wanted(draft.link, draft.given))
        if equal is None:
            earlier.add(position, draft)
        else:
            equals[position] = equal
    return equals


class _Earlier:
    """Drafts by what is always compared, and then by the values of each set of columns that was looked for."""

    def __init__(self) -> None:
        self._drafts: dict[Any, list[_Values]] = defaultdict(list)
        self._indexes: dict[Any, _Index] = defaultdict(_Index)

    def add(self, position: int, draft: Draft) -> None:
        self._drafts[Wanted(draft.link, ()).place].append(_Values(position, draft.link))

    def find(self, wanted: Wanted) -> int | None:
        drafts = self._drafts.get(wanted.place, [])
        index = self._indexes[wanted.place, wanted.columns]
        for draft in drafts[index.read :]:
            values = draft.of(wanted.columns)
            index.first[values] = min(draft.position, index.first.get(values, draft.position))
        index.read = len(drafts)
        return index.first.get(comparable(wanted.link, wanted.columns))


@dataclass(slots=True)
class _Index:
    """The first position with each values. ``read``: the number of drafts that it has."""

    first: dict[tuple[Any, ...], int] = field(default_factory=dict)
    read: int = 0


class _Values:
    """The values of a draft, each prepared once."""

    def __init__(self, position: int, link: Link) -> None:
        self.position, self._link = position, link
        self._values: dict[str, Any] = {}

    def of(self, columns: tuple[str, ...]) -> tuple[Any, ...]:
        missing = [name for name in columns if name not in self._values]
        self._values.update(zip(missing, comparable(self._link, missing), strict=True))
        return tuple(self._values[name] for name in columns)
