"""Finds links that have what new ones shall have, so that they need not be created (``findIfExists``).

The index ``links_leads_to`` has a digest of the destination of each link. Calls about the same destination wait for
each other, so that of two parallel ones the second finds the link of the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from common.database import fetch
from common.errors import FieldError, InvalidFields
from links.fields import BY_NAME
from links.key_limits import condition_of
from links.models import Link, limits_of
from links.selectors import IS_OWNER, get_links
from links.storage.columns import CHANGEABLE, Column

# As a condition on ``links_link l``, with the canonical ``destination`` and the ``owner`` as parameters.
LEADS_TO = f"""
hashtextextended(l.destination, l.owner_id) = hashtextextended(%(destination)s, %(owner)s)
AND l.destination = %(destination)s AND l.owner_id {IS_OWNER}
"""
_COLUMNS = {column.name: column for column in CHANGEABLE}
# Entries of rules and of the split, without what the service adds to each.
_ENTRIES = """(
    SELECT coalesce(jsonb_agg(entry - '_id' - 'number' ORDER BY place), '[]')
    FROM jsonb_array_elements(l.{0}) WITH ORDINALITY entries (entry, place)
) = w.{0}"""
_WITH_ENTRIES = ("rules", "split")


def _equals(column: Column) -> str:
    if column.name in _WITH_ENTRIES:
        return _ENTRIES.format(column.name)
    stored, wanted = f"l.{column.name}::{column.sql_type}", f"w.{column.name}"
    if column.is_list:
        # In any order.
        return f"{stored} @> {wanted} AND {stored} <@ {wanted}"
    return f"{stored} IS NOT DISTINCT FROM {wanted}"


# Only the given columns count. Active links come before others, and then the oldest. The target is compared as it was
# entered: its canonical form is not stored.
_MATCHES = f"""
SELECT w.wanted, found.id FROM jsonb_to_recordset(%(rows)s::jsonb) w (
    wanted integer, given text[], domain bigint, entered text,
    {", ".join(f"{column.name} {column.sql_type}" for column in CHANGEABLE)}
), LATERAL (
    SELECT l.id FROM links_link l
    WHERE {LEADS_TO.replace("%(destination)s", "w.destination")} AND l.domain_id IS NOT DISTINCT FROM w.domain
        AND CASE WHEN w.entered IS NULL THEN l.target_url IS NULL
            ELSE l.target_url IS NOT NULL AND l.original_url = w.entered END
        {"".join(f"AND ('{column.name}' <> ALL (w.given) OR ({_equals(column)}))" for column in CHANGEABLE)}
        {{limits}}
    ORDER BY l.is_active DESC, l.is_archived, l.id LIMIT 1
) found
"""  # noqa: S608 # composed of constants
# Each item is compared with each link to its destination. So many take about half a statement's time limit.
MAX_COMPARISONS = 2_000_000
_COMPARISONS = f"""
SELECT sum(items * (SELECT count(*) FROM (
    SELECT FROM links_link l WHERE {LEADS_TO.replace("%(destination)s", "d.destination")} LIMIT %(most)s / items + 1
) links))::bigint
FROM (SELECT destination, count(*) items FROM unnest(%(destinations)s::text[]) destination GROUP BY destination) d
"""  # noqa: S608 # composed of constants
# A transaction about many destinations holds at most this number of locks: the server has a table for those of all.
_LOCKS = 64
_LOCK = "SELECT pg_advisory_xact_lock(id) FROM (SELECT id FROM unnest(%s::bigint[]) id ORDER BY id) locks"
NOT_COMPARABLE = FieldError(
    "password",
    "not_comparable",
    "findIfExists does not compare passwords: its response would tell whether a password is right.",
)
TOO_MANY_TO_COMPARE = FieldError(
    "urls",
    "too_many_to_compare",
    "Too many links lead to these URLs for findIfExists. Send fewer items at once.",
)


class Wanted(NamedTuple):
    """An unsaved link, and which fields of `links.fields.FIELDS`, by their columns, were given for it."""

    link: Link
    given: Collection[str]

    @property
    def place(self) -> tuple[int | None, str, str | None]:
        """What is always compared: the domain, the destination, and how the target was entered."""
        entered = None if self.link.target_url is None else self.link.original_url
        return self.link.domain_id, self.link.destination, entered

    @property
    def columns(self) -> tuple[str, ...]:
        return _columns_of(frozenset(self.given))


def refuse_password(fields: Mapping[str, Any]) -> None:
    """Raises InvalidFields if a link with a password is looked for."""
    if fields.get("password") is not None:
        raise InvalidFields([NOT_COMPARABLE])


def lock_destinations(links: Iterable[Link]) -> None:
    """Wait until no other transaction looks for or creates such links; hold the others up until this one ends.

    Links of an owner share locks. All transactions take them in the same order.
    """
    fetch(_LOCK, [sorted({_lock_of(link) for link in links})])


def _lock_of(link: Link) -> int:
    number = int.from_bytes(blake2b(link.destination.encode(), digest_size=8).digest()) % _LOCKS
    name = b"links that lead to\0%d\0%d" % (link.owner_id, number)
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "big", signed=True)


def find_equal(wanted: Link, given: Collection[str]) -> Link | None:
    """The link of `find_equals` for one."""
    return find_equals({0: Wanted(wanted, given)}).get(0)


def find_equals(wanted: Mapping[int, Wanted]) -> dict[int, Link]:
    """The owner's links that lead to the same URLs, on the same domains, and equal in the given fields, by the keys.

    All are of one owner. Only links within the limits of the key. Raises InvalidFields if too much must be compared.
    """
    owner = next(iter(wanted.values())).link.owner
    if len(wanted) > 1:
        _refuse_many(owner.pk, [each.link.destination for each in wanted.values()])
    limits, values = condition_of(owner.key)
    rows = [_row(key, each) for key, each in wanted.items()]
    parameters = {**values, "owner": owner.pk, "rows": orjson.dumps(rows).decode()}
    found = dict(fetch(_MATCHES.format(limits=limits), parameters))
    # Without those that somebody has deleted, moved or changed meanwhile.
    mine = {"owner_id": owner.pk, **limits_of(owner.key)}
    links = {
        link.pk: link
        for link in (get_links(set(found.values())) if found else ())
        if all(getattr(link, name) == value for name, value in mine.items())
    }
    return {key: links[pk] for key, pk in found.items() if pk in links}


def _refuse_many(owner: int | None, destinations: list[str]) -> None:
    values = {"owner": owner, "destinations": destinations, "most": MAX_COMPARISONS}
    [[comparisons]] = fetch(_COMPARISONS, values)
    if comparisons > MAX_COMPARISONS:
        raise InvalidFields([TOO_MANY_TO_COMPARE])


def _row(key: int, wanted: Wanted) -> dict[str, Any]:
    domain, destination, entered = wanted.place
    columns = {name: _value(name, wanted.link) for name in wanted.columns}
    return {
        **columns,
        "wanted": key,
        "given": wanted.columns,
        "domain": domain,
        "destination": destination,
        "entered": entered,
    }


@cache
def _columns_of(given: frozenset[str]) -> tuple[str, ...]:
    """The columns to compare. The destination stands for the target."""
    columns: list[str] = []
    for name in sorted(given):
        if name == "tags":
            columns.append("tag_keys")
        elif name == "restrictions":
            columns += [part.column for part in BY_NAME[name].parts]
        elif name != "target_url":
            columns.append(name)
    return tuple(columns)


def comparable(link: Link, columns: Iterable[str]) -> tuple[Any, ...]:
    """The values of these columns, of which equal ones are the same to a search."""
    return tuple(_comparable(name, link) for name in columns)


def _comparable(name: str, link: Link) -> Any:
    value, column = _value(name, link), _COLUMNS[name]
    if column.is_list:
        return frozenset(value)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS) if column.is_json else value


def _value(name: str, link: Link) -> Any:
    value = getattr(link, name)
    if name in _WITH_ENTRIES:
        return [{part: entry[part] for part in entry if part not in ("_id", "number")} for entry in value]
    return value
