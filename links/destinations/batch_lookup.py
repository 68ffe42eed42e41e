"""Lookup of many links at once: one query for those on the service's own hosts, and one for those on customers' hosts.

A query for many links takes a fraction of the processor time of as many queries for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson
from django.conf import settings
from django.db.backends.utils import CursorWrapper

from common.database import fetch, prepared_cursor, read_first
from common.host import state
from links.destinations.known_links import known_links
from links.destinations.lookup import (
    MANY_ON_CUSTOM_HOSTS,
    MANY_ON_OWN_HOST,
    LookupResult,
    load_target,
    pack,
    result_of,
)

# Host (canonical) and code.
Key = tuple[str, str]
# Rows that are Python objects at the same time.
_FETCHED = 500


def load_targets(keys: Sequence[Key]) -> list[LookupResult]:
    """`load_target` for many links, in the order of ``keys``. Raises the database's errors."""
    if len(keys) == 1:
        return [load_target(*key) for key in keys]
    before = sites_of(keys)
    numbers, read_at = [state.revisions_of(site, code) for site, code in before], state.microseconds()
    results: list[LookupResult] = [None] * len(keys)
    for place, result in read_targets(keys):
        results[place] = result
    known_links().remember_all(
        [
            (site, code, number, pack(result))
            for (site, code), number, result in zip(before, numbers, results, strict=True)
        ],
        read_at=read_at,
    )
    return results


def sites_of(keys: Sequence[Key]) -> list[Key]:
    """Return the keys with `site_of` in place of each host. Reading a setting takes longer than comparing with it."""
    own = settings.BASE_HOSTS
    return [("" if host in own else host, code) for host, code in keys]


def read_targets(keys: Sequence[Key]) -> Iterator[tuple[int, LookupResult]]:
    """Yield the position of each key and its result, without any cache. The positions are in no particular order."""
    sites = [site for site, _ in sites_of(keys)]
    own = [place for place, site in enumerate(sites) if not site]
    if own:
        yield from _read(MANY_ON_OWN_HOST, keys, own, is_own=True)
    if len(own) < len(keys):
        custom = [place for place, site in enumerate(sites) if site]
        yield from _read(MANY_ON_CUSTOM_HOSTS, keys, custom, is_own=False)


def _read(
    query: str, keys: Sequence[Key], places: Sequence[int], *, is_own: bool
) -> Iterator[tuple[int, LookupResult]]:
    values = {"codes": _json([keys[place][1] for place in places])}
    if not is_own:
        values["hosts"] = _json([keys[place][0] for place in places])

    def execute() -> CursorWrapper:
        cursor = prepared_cursor()
        cursor.execute(query, values)
        return cursor

    with read_first(execute) as cursor:
        while rows := cursor.fetchmany(_FETCHED):
            for number, is_known, *row in rows:
                yield places[number - 1], result_of(row if is_known else None, is_own=is_own)


def _json(texts: list[str]) -> str:
    return orjson.dumps(texts).decode()


_KEYS = """
SELECT coalesce(d.host, %(own_host)s), c.code
FROM unnest(%(links)s::bigint[]) WITH ORDINALITY wanted (link_id, place)
JOIN links_code c ON c.link_id = wanted.link_id AND c.kind <> 'reserved'
LEFT JOIN domains_domain d ON d.id = c.domain_id
ORDER BY place, c.id
"""


def lookup_keys_of(links: Sequence[int]) -> list[Key]:
    """Return host and code of every address of these links, in the order of ``links`` (ids)."""
    return [
        (host, code) for host, code in fetch(_KEYS, {"links": list(links), "own_host": settings.BASE_HOST})
    ]
