"""The compiled routing of a link: the rules in order, then the split, then the target, and the parameters it adds.

The split divides visitors without a cookie and without storing anything.

``Router.route`` trades clarity for speed: inlined code instead of calls, over tuples that `_activate` has prepared.
bench/results.csv, "Redirects", has the rate of links with rules.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from math import inf, log
from struct import Struct
from typing import Any, NamedTuple
from urllib.parse import unquote_plus

import orjson
from django.conf import settings

from common.bounded_cache import BoundedCache
from common.secrets import derive_key
from links.codes import SCAN_MARKER
from links.destinations.utm import with_utm
from redirects.rule_conditions import Condition, VisitTest, compile_condition
from redirects.visit import Visit

# The branch of visits that neither a rule nor the split decides.
TARGET = 0
# Two bytes of a visitor's digest for the target, and for each number that a branch can have.
_DRAWS = Struct("16H")
_DRAWN = 1 << 16


class Split:
    """The shares of a link's visitors: weighted rendezvous hashing (Schindelhauer and Schomaker, 2005).

    Each branch waits for a visitor for a random time, which the visitor's digest has drawn, and which is half as long
    with twice the weight. The shortest wait decides. So another weight moves visitors only to or from its branch, and
    the order of the branches does not matter.
    """

    __slots__ = ("_hash", "_paces", "_waits")

    def __init__(self, link_id: int, weights: Mapping[int, int]) -> None:
        """``weights``: percentages by the number of the branch, at most 100 in total. The target has the rest."""
        # Keyed, so that nobody outside can choose a branch; with the link, so that two splits are independent.
        self._hash = _hash_of(settings.SECRET_KEY).copy()
        self._hash.update(b"%d|" % link_id)
        rest = 100 - sum(weights.values())
        # By number, which decides if two waits are equal.
        self._paces = [
            (number, 1 / weight) for number, weight in sorted({TARGET: rest, **weights}.items()) if weight
        ]
        self._waits = _waits()

    def branch_of(self, address: str, user_agent: str) -> int:
        """Return the number of the visitor's branch; TARGET for the share that the weights leave to the target."""
        visitor = self._hash.copy()
        visitor.update(f"{address}|{user_agent}".encode())
        draws = _DRAWS.unpack(visitor.digest())
        waits, shortest, branch = self._waits, inf, TARGET
        for number, pace in self._paces:
            wait = waits[draws[number]] * pace
            if wait < shortest:
                shortest, branch = wait, number
        return branch


@cache
def _waits() -> array[float]:
    """The exponentially distributed time of each possible draw. A table, because `log` takes twice as long."""
    return array("d", (-log((draw + 0.5) / _DRAWN) for draw in range(_DRAWN)))


@lru_cache(maxsize=4)
def _hash_of(secret: str) -> blake2b:
    """All splits copy it: a new keyed hash takes twice as long."""
    return blake2b(digest_size=_DRAWS.size, key=derive_key(secret, "split"))


_MAX_ROUTERS, _MAX_BYTES = 8192, 16 * 1024 * 1024
# Of a router without its conditions, and for each byte of its JSON text.
_BYTES, _BYTES_PER_BYTE = 3_000, 3


class Route(NamedTuple):
    """The destination of a visit. ``branch`` is the number of the rule or variant within the link."""

    location: str
    branch: int = TARGET
    rule: str | None = None
    variant: str | None = None


class Rule(NamedTuple):
    """The rule matches if all conditions hold."""

    name: str
    route: Route
    conditions: tuple[Condition, ...]

    def first_failing(self, visit: Visit, now: float) -> int | None:
        """Return the index of the first condition that does not hold; None if the rule matches."""
        return next(
            (number for number, condition in enumerate(self.conditions) if not condition.holds(visit, now)),
            None,
        )


class Variant(NamedTuple):
    name: str
    weight: int
    route: Route


class _Active(NamedTuple):
    """The rules whose conditions on the time hold from ``since`` until before ``until``, each with its other
    conditions.
    """

    since: float
    until: float
    rules: tuple[tuple[tuple[VisitTest, ...], Route], ...]


class Router:
    """Immutable for callers, and safe to share between threads."""

    __slots__ = ("_active", "_split", "_split_routes", "forwards", "rules", "size", "target", "variants")

    def __init__(
        self,
        *,
        target: Route,
        rules: Sequence[Rule],
        variants: Sequence[Variant],
        link_id: int,
        forwards: bool,
        size: int = 0,
    ) -> None:
        """``size`` estimates the bytes of the compiled form."""
        self.size = size
        self.target = target
        self.rules = tuple(rules)
        self.variants = tuple(variants)
        self.forwards = forwards
        weights = {variant.route.branch: variant.weight for variant in variants}
        self._split = Split(link_id, weights) if variants else None
        self._split_routes = {TARGET: target, **{variant.route.branch: variant.route for variant in variants}}
        self._active = _Active(inf, -inf, ())

    def route(self, visit: Visit, now: float) -> Route:
        """Return where the visit leads. ``now`` in seconds since 1970.

        Inlined code instead of calls: one in three microseconds of a redirect by rules is spent here.
        """
        active = self._active
        if not active.since <= now < active.until:
            active = self._activate(now)
        for tests, matched in active.rules:
            for test in tests:
                if not test(visit):
                    break
            else:
                route = matched
                break
        else:
            split = self._split
            route = (
                self.target
                if split is None
                else self._split_routes[split.branch_of(visit.address, visit.user_agent)]
            )
        if self.forwards and visit.query:
            location = with_forwarded(route.location, visit.query)
            if location != route.location:
                return Route(location, *route[1:])
        return route

    def variant_of(self, visit: Visit) -> Variant | None:
        """Return the visitor's side of the split; None: the target, or there is no split."""
        if self._split is None:
            return None
        branch = self._split.branch_of(visit.address, visit.user_agent)
        return next((variant for variant in self.variants if variant.route.branch == branch), None)

    def constant_route(self, now: float) -> Route | None:
        """Return the route of all visits until `next_change`, or None if it depends on the visit."""
        if self.forwards:
            return None
        rules = self._active_at(now).rules
        if rules:
            tests, route = rules[0]
            return None if tests else route
        return None if self.variants else self.target

    def next_change(self, now: float) -> float:
        """Return the next moment after ``now`` at which a condition on the time changes; inf: never."""
        return self._active_at(now).until

    def _active_at(self, now: float) -> _Active:
        active = self._active
        return active if active.since <= now < active.until else self._activate(now)

    def _activate(self, now: float) -> _Active:
        """Evaluate the conditions on the time anew. The clock may also have been set back."""
        conditions = (condition for rule in self.rules for condition in rule.conditions)
        active = self._active = _Active(
            now,
            min((condition.next_change(now) for condition in conditions), default=inf),
            tuple(
                (_tests_of(rule), rule.route)
                for rule in self.rules
                if all(c.holds_at(now) for c in rule.conditions if c.test is None)
            ),
        )
        return active


def _tests_of(rule: Rule) -> tuple[VisitTest, ...]:
    """Negated conditions last: most of them hold, so another one usually decides that the rule does not match."""
    conditions = sorted(rule.conditions, key=lambda condition: condition.is_negated)
    return tuple(condition.test for condition in conditions if condition.test is not None)


def compile_router(routing: str, link_id: int, location: str) -> Router:
    """Compile ``routing``, the JSON text of a target. ``location``: the complete location of the target itself.

    Returns the same router for the same arguments as long as it is in the cache.
    """
    key = (routing, link_id, location)
    router = compiled_routers.get(key)
    if router is None:
        router = _compile(
            orjson.loads(routing), link_id, location, _BYTES + _BYTES_PER_BYTE * len(routing.encode())
        )
        compiled_routers.put(key, router)
    return router


compiled_routers = BoundedCache[tuple[str, int, str], Router](
    _MAX_ROUTERS, _MAX_BYTES, lambda _, router: router.size
)


def _compile(routing: Mapping[str, Any], link_id: int, location: str, size: int) -> Router:
    utm = routing.get("utm") or {}
    rules = [
        Rule(
            raw["name"],
            Route(with_utm(raw["href"], utm), raw["number"], rule=raw["_id"]),
            tuple(map(compile_condition, raw["conditions"])),
        )
        for raw in routing.get("rules") or []
    ]
    size += sum(condition.size for rule in rules for condition in rule.conditions)
    variants = [
        Variant(
            raw["name"],
            raw["weight"],
            Route(with_utm(raw["href"], utm), raw["number"], variant=raw["_id"]),
        )
        for raw in routing.get("split") or []
    ]
    return Router(
        target=Route(location),
        rules=rules,
        variants=variants,
        link_id=link_id,
        forwards=bool(routing.get("forward")),
        size=size,
    )


MAX_QUERY = 4096
_OWN_NAMES = frozenset({SCAN_MARKER.partition("=")[0]})
# Some servers cut a name at NUL, and some decode "%u006e".
_AMBIGUOUS = re.compile(r"[\x00-\x1f\x7f-\x9f]|%u", re.IGNORECASE)
# PHP replaces these characters in names.
_PHP_NAMES = str.maketrans(" .[]", "____")


def with_forwarded(location: str, query: str) -> str:
    """Return ``location`` with those parameters of ``query`` whose names its own query does not have.

    Scheme, host, path and existing parameters stay unchanged, so a visitor cannot replace a parameter such as
    ``next``, whatever server reads the query. The service's own marker of scans, parameters with other than printable
    ASCII characters, and parameters whose names servers read differently are dropped. If the resulting query would
    exceed MAX_QUERY characters, nothing is forwarded.
    """
    before_query, present, names, fragment = _parts(location)
    forwarded, length = [present] if present else [], len(present)
    for piece in query.partition("#")[0].split("&"):
        if not piece or not piece.isascii() or not piece.isprintable():
            continue
        if _is_dropped(piece.partition("=")[0], names):
            continue
        # Some servers also separate parameters at ";", which would let a value add any parameter.
        addition = piece.replace(";", "%3B")
        length += len(addition) + bool(forwarded)
        if length > MAX_QUERY:
            return location
        forwarded.append(addition)
    return f"{before_query}?{'&'.join(forwarded)}{fragment}" if length > len(present) else location


@lru_cache(maxsize=1024)
def _parts(location: str) -> tuple[str, str, frozenset[str], str]:
    """Return the location before its query, the query, the names that cannot be forwarded, and the fragment."""
    before_fragment, hash_mark, fragment = location.partition("#")
    before_query, _, present = before_fragment.partition("?")
    encoded = (parameter.partition("=")[0] for parameter in re.split("[&;]", present))
    own = (name for parameter in encoded for name in _names(unquote_plus(parameter)))
    return before_query, present, _OWN_NAMES.union(own), hash_mark + fragment


def _is_dropped(encoded: str, names: frozenset[str]) -> bool:
    # Most names: every server reads them in the same way.
    if encoded.isidentifier():
        return encoded.lower() in names
    decoded = unquote_plus(encoded)
    return _AMBIGUOUS.search(decoded) is not None or not names.isdisjoint(_names(decoded))


def _names(decoded: str) -> tuple[str, str, str]:
    """Return the names as which servers may read a decoded name.

    Servers ignore case, outer spaces and array indexes. PHP replaces some characters, also a "[" without its "]".
    """
    name = decoded.lower().lstrip()
    stripped = name.rstrip()
    base = stripped.partition("[")[0]
    return base.translate(_PHP_NAMES), stripped.translate(_PHP_NAMES), name.translate(_PHP_NAMES)
