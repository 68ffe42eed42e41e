"""Reads links for the fast lane."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from django.db import Error, connection

from common.database import is_outage
from common.host.cache_versions import versions_of
from common.host.metrics import count_lookups
from common.host.state import UNHEARD_SECONDS, is_hearing
from fastlane.fast.prepared import prepare
from links.destinations.batch_lookup import Key, load_targets, sites_of
from links.destinations.lookup import recall_target

# Seconds after which a lookup checks again whether the database is still unreachable.
REMEMBERED_SECONDS = 5.0


def lookup(host: str, code: str) -> bytes | None:
    """As `lookup_many`, of one link."""
    [prepared] = lookup_many([(host, code)])
    return prepared


def lookup_many(keys: Sequence[Key]) -> list[bytes | None]:
    """Load and prepare links from the database, or from this host's memory during a database outage.

    None: neither has the link; the Django view replies.
    """
    count_lookups(misses=len(keys))
    before = [versions_of(*key) for key in sites_of(keys)]
    seconds = inf if is_hearing() else UNHEARD_SECONDS
    try:
        results = load_targets(keys)
    except Error as error:
        connection.close()
        if not is_outage(error):
            return [None] * len(keys)
        remembered = [recall_target(host, code) for host, code in keys]
        return [
            None if target is None else prepare(versions, target, REMEMBERED_SECONDS)
            for versions, target in zip(before, remembered, strict=True)
        ]
    return [prepare(versions, result, seconds) for versions, result in zip(before, results, strict=True)]
