"""Finds a link that has what a new one shall have, so that it need not be created (``findIfExists``).

The index ``links_leads_to`` has a digest of the destination of each link. Calls about the same destination wait for
each other, so that of two parallel ones the second finds the link of the first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import blake2b
from typing import Any

from common.database import fetch
from common.errors import FieldError, InvalidFields
from links.fields import BY_NAME
from links.key_limits import condition_of
from links.models import Link
from links.selectors import IS_OWNER, get_links
from links.storage.columns import CHANGEABLE, Column, stored_value

# As a condition on ``links_link l``, with the canonical ``destination`` and the ``owner`` as parameters.
LEADS_TO = f"""
hashtextextended(l.destination, l.owner_id) = hashtextextended(%(destination)s, %(owner)s)
AND l.destination = %(destination)s AND l.owner_id {IS_OWNER}
"""
# Active links before others, and then the oldest.
_MATCH = f"""
SELECT l.id FROM links_link l WHERE {LEADS_TO} AND l.domain_id IS NOT DISTINCT FROM %(domain)s {{conditions}}
ORDER BY l.is_active DESC, l.is_archived, l.id LIMIT 1
"""  # noqa: S608 # composed of constants
_LOCK = "SELECT pg_advisory_xact_lock(%s)"
# Entries of rules and of the split, without what the service adds to each.
_ENTRIES = """
AND (SELECT coalesce(jsonb_agg(entry - '_id' - 'number' ORDER BY place), '[]')
    FROM jsonb_array_elements({0}) WITH ORDINALITY entries (entry, place)) = %({1})s::jsonb
"""
_COLUMNS = {column.name: column for column in CHANGEABLE}
NOT_COMPARABLE = FieldError(
    "password",
    "not_comparable",
    "findIfExists does not compare passwords: its response would tell whether a password is right.",
)


def refuse_password(fields: Mapping[str, Any]) -> None:
    """Raises InvalidFields if a link with a password is looked for."""
    if fields.get("password") is not None:
        raise InvalidFields([NOT_COMPARABLE])


def lock_destination(link: Link) -> None:
    """Wait until no other transaction looks for or creates such a link; hold the others up until this one ends."""
    name = b"links that lead to\0%d\0%s" % (link.owner_id, link.destination.encode())
    fetch(_LOCK, [int.from_bytes(blake2b(name, digest_size=8).digest(), "big", signed=True)])


def find_equal(wanted: Link, given: Collection[str]) -> Link | None:
    """The owner's link that leads to the same URL, on the same domain, and equals ``wanted`` in the ``given`` fields.

    ``wanted`` is unsaved. ``given`` are columns of `links.fields.FIELDS`. Only links within the limits of the key.
    """
    limits, values = condition_of(wanted.owner.key)
    columns = [_COLUMNS[name] for name in _columns_of(given)]
    conditions = "".join(map(_equals, columns)) + limits
    if wanted.target_url is None:
        conditions += " AND l.target_url IS NULL"
    else:
        # As entered: its canonical form is not stored.
        conditions += " AND l.original_url = %(original_url)s AND l.target_url IS NOT NULL"
    found = fetch(
        _MATCH.format(conditions=conditions),
        {
            **values,
            **{column.name: _value(column, wanted) for column in columns},
            "owner": wanted.owner_id,
            "domain": wanted.domain_id,
            "destination": wanted.destination,
            "original_url": wanted.original_url,
        },
    )
    # None if somebody has deleted it meanwhile.
    return next(iter(get_links([found[0][0]])), None) if found else None


def _columns_of(given: Collection[str]) -> list[str]:
    """The columns to compare. The destination stands for the target."""
    columns: list[str] = []
    for name in sorted(given):
        if name == "tags":
            columns.append("tag_keys")
        elif name == "restrictions":
            columns += [part.column for part in BY_NAME[name].parts]
        elif name != "target_url":
            columns.append(name)
    return columns


def _equals(column: Column) -> str:
    stored, wanted = f"l.{column.name}", f"%({column.name})s::{column.sql_type}"
    if column.name in ("rules", "split"):
        return _ENTRIES.format(stored, column.name)
    if column.is_list:
        # In any order.
        return f" AND {stored}::{column.sql_type} @> {wanted} AND {stored}::{column.sql_type} <@ {wanted}"
    return f" AND {stored} IS NOT DISTINCT FROM {wanted}"


def _value(column: Column, link: Link) -> Any:
    value = getattr(link, column.name)
    if column.name in ("rules", "split"):
        value = [{name: entry[name] for name in entry if name not in ("_id", "number")} for entry in value]
    return stored_value(column, value)
