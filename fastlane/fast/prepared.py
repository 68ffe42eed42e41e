"""Prepared answers of links, as the fast lane caches them.

Trades clarity for speed: each answer is one contiguous piece of memory instead of objects. Entries that were not used
for thousands of requests have left the CPU caches. Fetching them costs by the number of memory locations, not by their
length: with Python objects, a random link took 1.5 times as long to answer as the previous one, now 1.2 times.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from math import inf, nextafter
from struct import Struct, calcsize, pack

from analytics.journal.records import BRANCH_SHIFT
from common.bounded_cache import BoundedCache
from common.host.cache_versions import CHANGES, Version, Versions
from fastlane.fast.answers import pack_unknown_code
from fastlane.fast.counts import NOT_FOUND
from fastlane.fast.visitor_rules import pack_visitor_rules
from links.destinations.cache import UNKNOWN_SECONDS
from links.destinations.lookup import LookupResult, Target, UnknownCode
from links.fields import STORED
from redirects import checks
from redirects.redirect_headers import encoded_headers
from redirects.router import Route
from redirects.visit import Visit

# Versions of code and host, link id, end of validity (seconds since 1970), version counters of code and host, status,
# the branch as flags of the record, and the length of the visitor rules after the answer. Status 0: the fast lane does
# not serve this link, except that the answer of a link with a limit on clicks may follow, for visits whose click is
# claimed. Status 404: an unknown code, with what `pack_unknown_code` returns in place of the visitor rules.
_HEAD = Struct("<QQqdIIHBI")
HEAD_BYTES = _HEAD.size
unpack_head = _HEAD.unpack_from
_UNTIL = 3
_UNTIL_BYTES = calcsize("<QQq"), calcsize("<QQqd")
# An unknown code that is valid for longer was looked up before the clock was set back. The event loop reads the clock
# before the requests of an iteration, so an entry may be a little newer.
LONGEST_UNKNOWN_SECONDS = 2 * UNKNOWN_SECONDS
# Overhead of an entry: two object headers and an entry of the table.
_ENTRY_BYTES = 120
# LINK_CHECKS do not read the visit.
_NO_VISIT = Visit("", "")

# The table of fields says which of them the checks of the link and the visitor rules cover, or restrict nothing.
_FAST_LANE_FIELDS = frozenset((
    *("link_id", "public_id", "location", "clicks", "routing", "pages"),
    *(field.column for field in STORED if field.fast_lane),
))  # fmt: skip

_CLAIMABLE_FIELDS = _FAST_LANE_FIELDS | {"max_clicks"}


def fits_fast_lane(target: Target) -> bool:
    """Return whether the fast lane may serve the link.

    Fails closed: the Django view decides about a link with any other restriction.
    """
    return not target.is_restricted_beyond(_FAST_LANE_FIELDS)


def prepare(versions: Versions, target: LookupResult, seconds: float = inf) -> bytes:
    """Prepare the result of a lookup for at most ``seconds``. ``versions``: read before the lookup.

    A boundary in time (the link's start or end, or that of a rule) ends the validity, so the first request after it
    looks the link up again.
    """
    now = time.time()
    if isinstance(target, UnknownCode) and (packed := pack_unknown_code(target)):
        return _pack(versions.unknown, now + UNKNOWN_SECONDS, status=NOT_FOUND, rules=packed)
    if not isinstance(target, Target):
        return _pack(versions.unknown, now + UNKNOWN_SECONDS)
    if not fits_fast_lane(target):
        if target.is_restricted_beyond(_CLAIMABLE_FIELDS):
            return _pack(versions.known, now + seconds)
        claimable = _prepare_link(versions, target, seconds, now)
        return _pack(versions.known, unpack_head(claimable)[_UNTIL]) + claimable
    return _prepare_link(versions, target, seconds, now)


def _prepare_link(versions: Versions, target: Target, seconds: float, now: float) -> bytes:
    until = min(now + seconds, checks.next_boundary(target, now))
    if checks.decide(target, _NO_VISIT, datetime.fromtimestamp(now, UTC), checks.LINK_CHECKS) is not None:
        return _pack(versions.known, until)
    try:
        router = checks.router_of(target)
    except checks.UnreadableRouting:
        return _pack(versions.known, until)
    route: Route | None = Route(target.location)
    if router is not None:
        until = min(until, router.next_change(now))
        route = router.constant_route(now)
    location, branch = (target.location, 0) if route is None else (route.location, route.branch)
    answer = encoded_headers(target, location)
    rules = pack_visitor_rules(target, route, answer.partition(b"\r\n")[2])
    if rules:
        answer, branch = b"", 0
    return _pack(
        versions.known, until, link_id=target.link_id, status=target.redirect_type,
        branch=branch, answer=answer, rules=rules,
    )  # fmt: skip


def _pack(
    version: Version,
    until: float,
    *,
    link_id: int = 0,
    status: int = 0,
    branch: int = 0,
    answer: bytes = b"",
    rules: bytes = b"",
) -> bytes:
    head = _HEAD.pack(
        version.code_number, version.host_number, link_id, until, version.code_counter, version.host_counter,
        status, branch << BRANCH_SHIFT, len(rules),
    )  # fmt: skip
    return head + answer + rules


def is_current(prepared: bytes, now: float) -> bool:
    """Whether the entry is still valid, be it an answer or the absence of one. ``now`` in seconds since 1970."""
    code_number, host_number, _, until, code_counter, host_counter, *_ = unpack_head(prepared)
    if is_unknown(prepared) and until > now + LONGEST_UNKNOWN_SECONDS:
        return False
    return until > now and Version(code_counter, host_counter, code_number, host_number).is_current


def is_unknown(prepared: bytes) -> bool:
    """Whether the lookup has found no link."""
    code_counter = unpack_head(prepared)[4]
    return bool(code_counter >= CHANGES)


def valid_for_waiting(prepared: bytes, now: float) -> bytes:
    """Return the result of a lookup in a form that answers the requests that waited for it, which arrived before it.

    On a busy machine, an unknown code may have expired before they are answered. ``now``: the time of their answers.
    """
    if not is_unknown(prepared) or unpack_head(prepared)[_UNTIL] > now:
        return prepared
    start, end = _UNTIL_BYTES
    return prepared[:start] + pack("<d", nextafter(now, inf)) + prepared[end:]


def prepared_answers(entries: int, size: int) -> BoundedCache[bytes, bytes]:
    """Create the cache of a process, keyed by `link_key`."""
    return BoundedCache(entries, size, lambda key, prepared: len(key) + len(prepared) + _ENTRY_BYTES)
