"""The columns that decide where a link leads, from the validated fields of a creation or an update.

A click is recorded with the number of its branch, which has four bits. So a number has to be used again once a link
has had more than 15 branches.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

import orjson

from common.errors import FieldError, InvalidFields
from common.http.urls import Destination
from links.fields import FIELDS, Kind
from links.models import Link

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


# The columns of the fields. `expires_at` has a rule together with `starts_at`.
_BRANCHES = frozenset(("rules", "split"))
# Those with one URL besides the target.
_SINGLE = ("not_started_url", "expired_url", "fallback_url")
_FIELDS = frozenset(field.column for field in FIELDS if field.leads)
# Their values do not depend on the link.
_SIMPLE = [
    field for field in FIELDS if field.leads and field.kind is not Kind.JSON and field.name != "targetUrl"
]
# All rules and the split of a link, as JSON with both forms of their URLs. Workers compile it and keep it in memory.
MAX_BYTES = 16 * 1024
TOO_LONG = f"The rules and the split must not be longer than {MAX_BYTES} bytes as JSON."
START_AFTER_EXPIRY = "The start must be earlier than expiresAt."


def has_new_branches(link: Link, fields: Mapping[str, Any]) -> bool:
    """Whether `columns_of` needs the numbers that the link has used before."""
    sent = [entry for name in _BRANCHES for entry in fields.get(name) or []]
    known = {entry["_id"] for entry in (*link.rules, *link.split)}
    return len(sent) > len({entry.get("id") for entry in sent} & known)


def columns_of(
    link: Link,
    fields: Mapping[str, Any],
    freed_numbers: Mapping[int, datetime],
    restored: Destination | None = None,
) -> dict[str, Any]:
    """The columns to change and their values.

    ``freed_numbers`` are those of `merge_branches`, ``restored`` that of `addresses.restored_destination`.

    Raises InvalidFields for a start that is not before the expiry, and for rules that are too long.
    """
    if _FIELDS.isdisjoint(fields):
        if "expires_at" in fields and link.starts_at is not None:
            _refuse_start_after_expiry(link.starts_at, fields["expires_at"], fields)
        return {}
    values = _simple(fields)
    if "target_url" in fields:
        values |= _target(link, fields["target_url"], restored)
    if not _BRANCHES.isdisjoint(fields):
        values |= _branches(link, fields, freed_numbers)
    if "starts_at" in fields or "expires_at" in fields:
        _refuse_start_after_expiry(
            values.get("starts_at", link.starts_at), fields.get("expires_at", link.expires_at), fields
        )
    others = _other_destinations(link, values)
    if others != link.other_destinations:
        values["other_destinations"] = others
    return values


def _simple(fields: Mapping[str, Any]) -> dict[str, Any]:
    values = {field.column: field.stored(fields[field.column]) for field in _SIMPLE if field.column in fields}
    if "preview" in fields:
        values["preview"] = _preview(fields["preview"] or {})
    return values


def _preview(card: Mapping[str, Any]) -> dict[str, str | None] | None:
    image: Destination | None = card.get("image_url")
    preview = {
        "title": card.get("title") or None,
        "description": card.get("description") or None,
        "imageUrl": None if image is None else image.href,
    }
    return preview if any(preview.values()) else None


def _target(link: Link, target: Destination | None, restored: Destination | None) -> dict[str, Any]:
    if restored is not None:
        return {"target_url": None, "destination": restored.href}
    # The canonical form of a URL may differ in a later release, but only with a new target may the destination change.
    if target is None or target.text == link.target_url:
        return {}
    return {"target_url": target.text, "destination": target.href}


def _branches(
    link: Link, fields: Mapping[str, Any], freed_numbers: Mapping[int, datetime]
) -> dict[str, list[dict[str, Any]]]:
    sent = {name: fields[name] for name in ("rules", "split") if name in fields}
    merged = merge_branches({"rules": link.rules, "split": link.split}, sent, freed_numbers)
    branches = [merged.get("rules", link.rules), merged.get("split", link.split)]
    if len(orjson.dumps(branches)) > MAX_BYTES:
        raise InvalidFields([FieldError(name, "too_long", TOO_LONG) for name in sent])
    return merged


def _refuse_start_after_expiry(
    starts_at: datetime | None, expires_at: datetime | None, sent: Collection[str]
) -> None:
    if starts_at is not None and expires_at is not None and starts_at >= expires_at:
        name = "startsAt" if "starts_at" in sent else "expiresAt"
        raise InvalidFields([FieldError(name, "start_after_expiry", START_AFTER_EXPIRY)])


def _other_destinations(link: Link, values: Mapping[str, Any]) -> list[str]:
    single = (values.get(name, getattr(link, name)) for name in _SINGLE)
    branches = (
        entry["href"] for name in ("rules", "split") for entry in values.get(name, getattr(link, name))
    )
    image = (values.get("preview", link.preview) or {}).get("imageUrl")
    return list(dict.fromkeys(url for url in (*single, *branches, image) if url is not None))
