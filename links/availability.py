"""Whether visitors may follow a link now, whoever they are: the answer in Python.

`closed_by` answers before a visit and in the operators' lists. `links_closed_by` (links/migrations/sql/claims.sql) is
the same answer in SQL, for the claims of clicks, which must decide and count in one statement.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol


class Closed(StrEnum):
    """Why a link cannot be followed. The claim of a click alone finds the last two reasons."""

    LEGAL = "legal"
    BANNED = "banned"
    DISABLED = "disabled"
    NOT_STARTED = "not_started"
    EXPIRED = "expired"
    LIMIT_REACHED = "limit_reached"
    VISITOR_LIMIT_REACHED = "visitor_limit_reached"
    DELETED = "deleted"


class Followable(Protocol):
    """What decides, for `closed_by`. ``is_active`` includes the state of the link's domain."""

    @property
    def ban_reason(self) -> str | None: ...
    @property
    def is_active(self) -> bool: ...
    @property
    def starts_at(self) -> datetime | None: ...
    @property
    def expires_at(self) -> datetime | None: ...
    @property
    def max_clicks(self) -> int | None: ...
    @property
    def clicks(self) -> int: ...


class State(NamedTuple):
    """A `Followable` of values."""

    ban_reason: str | None
    is_active: bool
    starts_at: datetime | None
    expires_at: datetime | None
    max_clicks: int | None
    clicks: int


def _active(link: Followable, _now: datetime) -> Closed | None:
    if link.ban_reason is not None:
        return Closed.LEGAL if link.ban_reason == "legal" else Closed.BANNED
    return None if link.is_active else Closed.DISABLED


def _started(link: Followable, now: datetime) -> Closed | None:
    return Closed.NOT_STARTED if link.starts_at is not None and now < link.starts_at else None


def _not_expired(link: Followable, now: datetime) -> Closed | None:
    return Closed.EXPIRED if link.expires_at is not None and link.expires_at <= now else None


def _clicks_left(link: Followable, _now: datetime) -> Closed | None:
    is_used_up = link.max_clicks is not None and link.clicks >= link.max_clicks
    return Closed.LIMIT_REACHED if is_used_up else None


# By the names that the simulation of a visit shows, in the order in which they refuse one.
CONDITIONS: dict[str, Callable[[Followable, datetime], Closed | None]] = {
    "active": _active,
    "started": _started,
    "not_expired": _not_expired,
    "clicks_left": _clicks_left,
}


def closed_by(link: Followable, now: datetime) -> Closed | None:
    """Return the first reason, or None if the link is open."""
    for condition in CONDITIONS.values():
        if (reason := condition(link, now)) is not None:
            return reason
    return None
