"""The outcome label of a link request in the metrics."""

from __future__ import annotations

from django.http import HttpResponse

_UNLOCKED = 303


def set_outcome(response: HttpResponse, outcome: str) -> HttpResponse:
    """Set the outcome if it differs from the status."""
    response.outcome = outcome  # type: ignore[attr-defined] # attribute of this project
    return response


def outcome_of(response: HttpResponse) -> str:
    """That which was set, else the reason of a refusal or the status."""
    default = "unlocked" if response.status_code == _UNLOCKED else str(response.status_code)
    return getattr(response, "outcome", response.headers.get("X-Refusal-Reason", default))
