"""Reads the links that visitors are most likely to follow next, and prepares their answers.

As for every lookup, the version slots are read before the database, and only while the host receives notifications: a
link that changes while it is read or passed on is not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from django.conf import settings
from django.db import connection

from analytics.reports.recent_links import recently_followed
from common.database import extend_response_timeout
from common.host.cache_versions import versions_of
from common.host.state import is_hearing
from fastlane.fast.prepared import prepare
from fastlane.warm_start.shared import Entry, SharedEntries
from links.destinations.batch_lookup import Key, read_targets
from links.destinations.codes import codes_of
from links.destinations.known_links import known_links
from links.destinations.lookup import Target, site_of
from redirects.unknown_code_limit import link_key

# Links per query, and prepared answers per write.
_QUERIED, _WRITTEN = 10_000, 500
# The queries of requests take milliseconds; each of these may take longer.
_STATEMENT_SECONDS = 30


def load(shared: SharedEntries) -> int:
    """Write the answers of recently followed links, of those with the most clicks first. Return their number.

    At most half of what a worker keeps in memory. Raises the database's errors.
    """
    number, size = 0, settings.DESTINATIONS_MB * 1024 * 1024 // 2
    with extend_response_timeout(_STATEMENT_SECONDS):
        with connection.cursor() as cursor:
            cursor.execute(f"SET statement_timeout = '{_STATEMENT_SECONDS}s'")
        keys = _keys(settings.DESTINATIONS_KEPT // 2)
        while (chunk := list(islice(keys, _QUERIED))) and is_hearing():
            entries = _entries(chunk)
            while size > 0 and (part := list(islice(entries, _WRITTEN))):
                shared.write(part)
                number += len(part)
                size -= sum(len(key) + len(answer) for key, answer in part)
    return number


def _keys(limit: int) -> Iterator[Key]:
    """Yield the recently followed links of all hosts, then others that this host has read."""
    followed = dict.fromkeys(codes_of(recently_followed(limit))[:limit])
    yield from followed
    for site, code in known_links().keys(limit - len(followed)):
        if (key := (site or settings.BASE_HOST, code)) not in followed:
            yield key


def _entries(keys: Sequence[Key]) -> Iterator[Entry]:
    before = [versions_of(site_of(host), code) for host, code in keys]
    for place, target in read_targets(keys):
        if isinstance(target, Target):
            host, code = keys[place]
            yield link_key(site_of(host), code.encode("ascii")), prepare(before[place], target)
