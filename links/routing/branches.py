"""Rules and entries of the split as the database has them, with their ids and numbers.

A click is recorded with the number of its branch, which has four bits. So a number has to be used again once a link
has had more than 15 branches.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

# At most ten rules and five entries of the split. 0 is the link's own destination.
NUMBERS = range(1, 16)

Entry = dict[str, Any]


def merge_branches(
    link_branches: Mapping[str, list[Entry]],
    sent: Mapping[str, list[Entry] | None],
    freed: Mapping[int, datetime],
) -> dict[str, list[Entry]]:
    """The stored entries of the lists of ``sent``, by the names of their columns.

    ``link_branches`` has all of the link's current lists. An entry with the id of one of their entries keeps its id
    and number. So does an entry without an id that equals a removed entry of its list: a client that does not know
    the ids can send its list again without any change. Any other entry is new. It gets a number that the link has
    never used, or else the one that has been free the longest. ``freed`` has the moment from which each number has
    been free, if the link ever used it.
    """
    known = {entry["_id"]: entry["number"] for entries in link_branches.values() for entry in entries}
    unsent = (entry for name, entries in link_branches.items() if name not in sent for entry in entries)
    kept = {entry["_id"]: entry["number"] for entry in unsent}
    merged = {name: [_stored(entry) for entry in entries or []] for name, entries in sent.items()}
    for name, entries in sent.items():
        for entry, stored in zip(entries or [], merged[name], strict=True):
            identifier: str | None = entry.get("id")
            if identifier is not None and identifier in known and identifier not in kept:
                _keep(stored, identifier, known, kept)
    # After all ids, because an id may stand behind an equal entry without one.
    for name, entries in sent.items():
        for entry, stored in zip(entries or [], merged[name], strict=True):
            if not entry.get("id") and (equal := _equal(stored, link_branches[name], kept)):
                _keep(stored, equal, known, kept)
    new = [stored for entries in merged.values() for stored in entries if "_id" not in stored]
    used = {*kept.values()}
    numbers = _by_availability((number for number in NUMBERS if number not in used), known, freed)
    for stored, number in zip(new, numbers, strict=False):
        stored |= {"_id": uuid.uuid4().hex, "number": number}
    return merged


def _keep(stored: Entry, identifier: str, known: Mapping[str, int], kept: dict[str, int]) -> None:
    stored |= {"_id": identifier, "number": known[identifier]}
    kept[identifier] = known[identifier]


def _equal(stored: Entry, current: Iterable[Entry], kept: Collection[str]) -> str | None:
    """The id of the first entry of ``current`` that was removed and equals the new one; weights may differ."""
    for entry in current:
        if entry["_id"] not in kept and all(
            entry.get(key) == stored.get(key) for key in ("name", "url", "conditions")
        ):
            return str(entry["_id"])
    return None


def _by_availability(
    numbers: Iterable[int], known: Mapping[str, int], freed: Mapping[int, datetime]
) -> list[int]:
    """Numbers that this change frees come last."""
    freed_now = {*known.values()}
    return sorted(
        numbers,
        key=lambda number: (
            number in freed_now,
            number in freed,
            freed[number].timestamp() if number in freed else 0,
            number,
        ),
    )


def _stored(entry: Entry) -> Entry:
    """The validated entry with both forms of its URL, without an id."""
    stored = {
        "name": entry.get("name") or "",
        "url": entry["url"].text,
        "href": entry["url"].href,
    }
    return stored | {name: entry[name] for name in ("conditions", "weight") if name in entry}
