"""Whether visitors may follow a link now, whoever they are: the answer in Python.

`closed_by` answers before a visit, and `status_of` says it to owners and operators. `links_closed_by` and
`links_status` (links/migrations/sql/claims.sql) are the same answers in SQL: for the claims of clicks, which must
decide and count in one statement, and for lists, which filter by them.
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


class Status(StrEnum):
    """Whether a link is open, or why not, as owners and operators see it."""

    ACTIVE = "active"
    SCHEDULED = "scheduled"
    EXPIRED = "expired"
    LIMIT_REACHED = "limit_reached"
    DISABLED = "disabled"
    BANNED = "banned"
    DOMAIN_INACTIVE = "domain_inactive"


class Followable(Protocol):
    """The values by which `closed_by` decides. ``is_active`` includes the state of the link's domain."""

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
    """A `Followable` that consists of plain values."""

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


_STATUSES = {
    None: Status.ACTIVE,
    Closed.LEGAL: Status.BANNED,
    Closed.BANNED: Status.BANNED,
    Closed.DISABLED: Status.DISABLED,
    Closed.NOT_STARTED: Status.SCHEDULED,
    Closed.EXPIRED: Status.EXPIRED,
    Closed.LIMIT_REACHED: Status.LIMIT_REACHED,
}


def status_of(state: State, now: datetime, *, is_served: bool) -> Status:
    """``state.is_active`` is the owner's switch, and ``is_served`` says whether the link's domain is active."""
    closed = closed_by(state if is_served else state._replace(is_active=False), now)
    if closed is Closed.DISABLED and state.is_active:
        return Status.DOMAIN_INACTIVE
    return _STATUSES[closed]


def ban_reason_in_sql(link: str) -> str:
    """The kind of the ban of a row of ``links_link``, as an SQL expression: "legal" or "other"; null without a ban."""
    return f"links_ban_reason({_subjects_of_bans(link)})"


def _subjects_of_bans(link: str) -> str:
    return ", ".join(f"{link}.{name}" for name in ("id", "owner_id", "destination", "other_destinations"))


# In a list, a call of the function for each row takes five times as long as this condition, which finds the links that
# a ban may concern: a ban of the link or its owner, or any ban of a host. The function (links/migrations/sql/bans.sql)
# and this condition must both know every kind of ban.
_IS_BANNED = f"""(
    (
        EXISTS (SELECT FROM links_linkban b WHERE b.link_id = l.id)
        OR EXISTS (SELECT FROM bans_ban b WHERE b.owner_id = l.owner_id)
        OR (SELECT EXISTS (SELECT FROM bans_ban WHERE host IS NOT NULL))
    ) AND links_is_banned({_subjects_of_bans("l")})
)"""  # noqa: S608 # built from constants
# Of a row that joins a link ``l``, its counter ``n`` and its domain ``d``.
BAN_REASON = ban_reason_in_sql("l")
_STATUS = "links_status({}, l.is_active, d.status, l.starts_at, l.expires_at, l.max_clicks, n.clicks)"
STATUS, STATUS_WITHOUT_BAN = _STATUS.format(_IS_BANNED), _STATUS.format("false")


def status_in_sql(link_id: str, status: str = STATUS) -> str:
    """The status of the link with this primary key, as an SQL expression."""
    return f"""(
        SELECT {status} FROM links_link l JOIN links_clickcounter n ON n.link_id = l.id
        LEFT JOIN domains_domain d ON d.id = l.domain_id WHERE l.id = {link_id}
    )"""  # noqa: S608 # built from constants
