"""What came of a request for a link, as the metrics name it."""

from __future__ import annotations

from django.http import HttpResponse

_UNLOCKED = 303


def mark(response: HttpResponse, outcome: str) -> HttpResponse:
    """Where the status alone does not say it."""
    response.outcome = outcome  # type: ignore[attr-defined] # ours
    return response


def outcome_of(response: HttpResponse) -> str:
    default = "unlocked" if response.status_code == _UNLOCKED else str(response.status_code)
    return getattr(response, "outcome", default)
