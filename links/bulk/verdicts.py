"""API responses with one result for each link of a bulk call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rest_framework.response import Response

from common.errors import MAX_REPORTED, NotFound, ServiceError
from common.rest.envelope import ResponseWarning, error_body, ok, shown_warnings

MAX_ERRORS = 1_000

Outcome = TypeVar("Outcome")


class NothingDeleted(NotFound):
    """None of the links to delete exists. ``data`` has a result for each, as in a success."""

    message = "None of these URLs was found."

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.data = data


def bulk_response(
    outcomes: Sequence[Outcome | ServiceError],
    show: Callable[[int, Outcome], Mapping[str, Any]],
    *,
    done: str,
    warnings: Mapping[int, list[ResponseWarning]] | None = None,
    status: int = 200,
    name: str = "index",
    first: int = 0,
    **extra: Any,
) -> Response:
    """Return one result per item, numbered from ``first``. An error has the body that a single call would return.

    ``warnings`` are those of the successful items, by position.

    Once the response contains MAX_ERRORS field errors, each further failed item shows only its first; likewise for
    warnings.
    """
    results: list[dict[str, Any]] = []
    errors = warned = 0
    for position, outcome in enumerate(outcomes):
        if isinstance(outcome, ServiceError):
            body = error_body(outcome) if errors < MAX_ERRORS else error_body(outcome, max_errors=1)
            errors += len(body.get("errors", ()))
            results.append({name: position + first, "status": outcome.status, **body})
        else:
            result: dict[str, Any] = {
                name: position + first,
                "success": True,
                "status": status,
                "url": show(position, outcome),
            }
            if warnings and (noted := warnings.get(position)):
                result |= shown_warnings(noted, most=MAX_REPORTED if warned < MAX_ERRORS else 1)
                warned += len(result["warnings"])
            results.append(result)
    succeeded = sum(not isinstance(outcome, ServiceError) for outcome in outcomes)
    counts = {"results": results, "succeeded": succeeded, "failed": len(results) - succeeded}
    return ok({**extra, **counts}, f"{succeeded} of {len(results)} URLs {done}.")
