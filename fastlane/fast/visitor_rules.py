"""Answers of links that depend on the visitor: allowed countries and devices, rules, splits, and forwarded queries.

A prepared answer of such a link ends with its visitor rules: a digest and JSON. The digest is their key in the side
table of compiled rules.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b

import orjson

from analytics.journal.records import BRANCH_SHIFT
from analytics.visitors.visitor import FOLLOWING, Kind
from common.bounded_cache import BoundedCache
from links.destinations.lookup import Target
from pages.refusals import Refusal
from redirects import checks
from redirects.previews import shows_cards
from redirects.refusals import in_words_of
from redirects.router import Route
from redirects.visit import Visit

_DIGEST_BYTES = 16
# The compiled form of a link with few rules.
_COMPILED_BYTES = 3_000


def pack_visitor_rules(target: Target, route: Route | None, headers: bytes) -> bytes:
    """Return b"" if all visitors get the same answer until the end of its validity.

    ``route``: that of all visits; None if it depends on the visit. ``headers``: those after Location.
    """
    lists = (target.allowed_countries, target.blocked_countries, target.allowed_devices)
    if route is not None and not any(lists) and target.preview is None:
        return b""
    location, branch = (target.location, 0) if route is None else (route.location, route.branch)
    routing = target.routing if route is None else None
    pages = target.pages if any(lists) else None
    packed = orjson.dumps(
        [
            target.link_id,
            location,
            branch,
            headers.decode(),
            *lists,
            target.preview is not None,
            routing,
            pages,
        ]
    )
    return blake2b(packed, digest_size=_DIGEST_BYTES).digest() + packed


class VisitorRules:
    """The compiled rules of one link. ``size`` estimates their bytes."""

    __slots__ = ("_branch", "_has_card", "_is_restricted", "_location", "_rest", "_router", "_target", "size")

    def __init__(self, packed: bytes) -> None:
        (
            link_id,
            location,
            self._branch,
            headers,
            allowed,
            blocked,
            devices,
            self._has_card,
            routing,
            pages,
        ) = orjson.loads(packed)
        self._target = Target(
            link_id=link_id,
            public_id="",
            location=location,
            redirect_type=0,
            allowed_countries=tuple(allowed),
            blocked_countries=tuple(blocked),
            allowed_devices=tuple(devices),
            routing=routing,
            pages=pages,
        )
        self._is_restricted = bool(allowed or blocked or devices)
        self._router = checks.router_of(self._target)
        self.size = _COMPILED_BYTES + 2 * len(packed) + (self._router.size if self._router is not None else 0)
        self._location = location
        self._rest = _after_location(headers)

    def answer(self, visit: Visit, kind: Kind, now: float) -> tuple[bytes, int] | Refusal | None:
        """Return the headers of the redirect and the record's flags of the branch, or the refusal of the visit. None:
        the Django view decides.

        ``now`` in seconds since 1970.
        """
        if self._is_restricted:
            moment = datetime.fromtimestamp(now, UTC)
            refusal = checks.decide(self._target, visit, moment, checks.VISITOR_CHECKS)
            if refusal is not None:
                return in_words_of(self._target.pages, refusal)
        # The view sends cards.
        if self._has_card and kind not in FOLLOWING and shows_cards(visit.user_agent):
            return None
        if self._router is None:
            location, branch = self._location, self._branch
        else:
            location, branch, _, _ = self._router.route(visit, now)
        return b"Location: " + location.encode("ascii") + self._rest, branch << BRANCH_SHIFT


@lru_cache(maxsize=64)
def _after_location(headers: str) -> bytes:
    """Links share these bytes: there are only a few combinations of headers."""
    return b"\r\n" + headers.encode("ascii")


class VisitorRulesTable:
    """The compiled rules of a process. Main thread only."""

    def __init__(self, entries: int, size: int) -> None:
        """Create an empty table. ``size`` is its limit in bytes."""
        self._compiled = BoundedCache[bytes, VisitorRules](entries, size, lambda _, rules: rules.size)

    def get(self, prepared: bytes, length: int) -> VisitorRules:
        """Return the compiled rules of a link. ``length``: that of the rules at the end of the prepared answer."""
        # Without the JSON, which is seldom in the CPU caches.
        digest = prepared[-length : _DIGEST_BYTES - length]
        rules = self._compiled.get(digest)
        if rules is None:
            rules = VisitorRules(prepared[_DIGEST_BYTES - length :])
            self._compiled.put(digest, rules)
        return rules
