"""What came of a request for a link, as the metrics name it."""

from __future__ import annotations

from django.http import HttpResponse

_NAMES = {301: "301", 302: "302", 303: "unlocked"}


def mark(response: HttpResponse, outcome: str) -> HttpResponse:
    """Where the status alone does not say it."""
    response.outcome = outcome  # type: ignore[attr-defined] # ours
    return response


def outcome_of(response: HttpResponse) -> str:
    return getattr(response, "outcome", None) or _NAMES[response.status_code]
