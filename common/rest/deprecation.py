"""Announces the removal of an action: in its responses and in the description. The guide has the policy."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.utils.http import http_date

# Clients have at least this long to change.
NOTICE_DAYS = 180

Action = TypeVar("Action", bound=Callable[..., Any])


class Deprecation(NamedTuple):
    """``instead`` is a sentence: what clients should use."""

    since: date
    sunset: date
    instead: str

    @property
    def headers(self) -> dict[str, str]:
        """RFC 9745 and RFC 8594."""
        return {
            "Deprecation": f"@{_midnight(self.since)}",
            "Sunset": http_date(_midnight(self.sunset)),
            "Link": f'<{settings.BASE_URL}/api/docs>; rel="deprecation"; type="text/html"',
        }

    @property
    def text(self) -> str:
        return f"Deprecated since {self.since}, and removed on {self.sunset}. {self.instead}"


def deprecated(*, since: date, sunset: date, instead: str) -> Callable[[Action], Action]:
    """Decorator of an action of a view, outside all others. Raises ValueError if the notice is too short."""
    if (sunset - since).days < NOTICE_DAYS:
        raise ValueError(f"{sunset} is less than {NOTICE_DAYS} days after {since}.")

    def mark(action: Action) -> Action:
        action.deprecation = Deprecation(since, sunset, instead)  # type: ignore[attr-defined] # of this project
        return action

    return mark


def deprecation_of(view: object, action: str | None) -> Deprecation | None:
    found: Deprecation | None = getattr(getattr(view, action or "", None), "deprecation", None)
    return found


def _midnight(day: date) -> int:
    return int(datetime.combine(day, time(), UTC).timestamp())
