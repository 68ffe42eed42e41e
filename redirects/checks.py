"""The checks of a visit, in their order. The Django view, the fast lane and the simulation decide with them.

The checks that link, visitor and time decide are functions here. The rest of the order is elsewhere: `found` is the
lookup, `password` and `claim` take the request and the database, and `route_of` evaluates rules, split and target.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from datetime import datetime
from math import inf
from typing import NamedTuple

from common.errors import Unavailable
from links.availability import CONDITIONS, Closed
from links.destinations.lookup import Target
from pages.refusals import Refusal
from redirects import refusals
from redirects.router import Route, Router, compile_router
from redirects.visit import Visit

log = logging.getLogger(__name__)


class UnreadableRouting(Unavailable):
    """This release cannot compile the routing of the link, for example because a later release wrote it."""


class Check(NamedTuple):
    """A condition of a visit. ``refuse`` returns the refusal, or None if the check passes."""

    name: str
    refuse: Callable[[Target, Visit, datetime], Refusal | None]


def _link_check(name: str, condition: Callable[[Target, datetime], Closed | None]) -> Check:
    def refuse(target: Target, _visit: Visit, now: datetime) -> Refusal | None:
        reason = condition(target, now)
        return None if reason is None else refusals.OF_CLOSED[reason]

    return Check(name, refuse)


def _country(target: Target, visit: Visit, _now: datetime) -> Refusal | None:
    if not target.allowed_countries and not target.blocked_countries:
        return None
    is_allowed = is_country_allowed(visit.country, target.allowed_countries, target.blocked_countries)
    return None if is_allowed else refusals.COUNTRY


def _device(target: Target, visit: Visit, _now: datetime) -> Refusal | None:
    is_allowed = not target.allowed_devices or visit.device in target.allowed_devices
    return None if is_allowed else refusals.DEVICE


# Without a change of the link, the results of LINK_CHECKS change only at its start and its end. That of the clicks is
# only a first check, without the limit per visitor: the claim enforces both limits.
LINK_CHECKS = tuple(_link_check(name, condition) for name, condition in CONDITIONS.items())
VISITOR_CHECKS = (Check("country", _country), Check("device", _device))
CHECKS = LINK_CHECKS + VISITOR_CHECKS
ORDER = (
    "found",
    *(check.name for check in CHECKS),
    *("password", "rule", "split", "target", "claim", "answer"),
)


def decide(target: Target, visit: Visit, now: datetime, checks: tuple[Check, ...] = CHECKS) -> Refusal | None:
    """Return the refusal of the first check that does not pass, or None. The caller checks the password afterwards."""
    for check in checks:
        if (refusal := check.refuse(target, visit, now)) is not None:
            return refusal
    return None


def next_boundary(target: Target, now: float) -> float:
    """Return the next moment after ``now`` at which LINK_CHECKS change, in seconds since 1970; inf: never."""
    moments = (moment.timestamp() for moment in (target.starts_at, target.expires_at) if moment is not None)
    return min((moment for moment in moments if moment > now), default=inf)


def router_of(target: Target) -> Router | None:
    """Return None if every visit leads to the target's location. Raises UnreadableRouting."""
    if target.routing is None:
        return None
    try:
        return compile_router(target.routing, target.link_id, target.location)
    except (ValueError, TypeError, LookupError, AttributeError, OSError) as error:
        log.exception("Cannot read the routing of link %s", target.public_id)
        raise UnreadableRouting from error


def route_of(target: Target, visit: Visit, now: datetime) -> Route:
    """Return the route of a visit that passed all checks."""
    return route_by(router_of(target), target, visit, now)


def route_by(router: Router | None, target: Target, visit: Visit, now: datetime) -> Route:
    """Return the route of a visit that passed all checks, by the target's own ``router``."""
    return Route(target.location) if router is None else router.route(visit, now.timestamp())


def elsewhere(target: Target, refusal: Refusal) -> str | None:
    """Return the URL to which the link sends visitors instead of this refusal, if any."""
    if refusal is refusals.NOT_STARTED:
        return target.not_started_url
    return target.expired_url if refusal in (refusals.EXPIRED, refusals.LIMIT_REACHED) else None


def is_country_allowed(country: str | None, allowed: Collection[str], blocked: Collection[str]) -> bool:
    """An unknown country matches no list: an allow list denies it, a block list allows it."""
    return (not allowed or country in allowed) and country not in blocked
