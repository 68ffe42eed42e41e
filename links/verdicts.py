"""What became of each of many links, as the interface writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rest_framework.response import Response

from common.envelope import error_body, ok
from common.errors import ServiceError
from common.fields import iso_utc
from links.drafts import Draft
from links.imports.services import Imported
from links.representations import short_url

Outcome = TypeVar("Outcome")


def answer(
    outcomes: Sequence[Outcome | ServiceError],
    show: Callable[[int, Outcome], Mapping[str, Any]],
    *,
    done: str,
    status: int = 200,
    name: str = "index",
    first: int = 0,
    **beside: Any,
) -> Response:
    """A result for each, under a number that counts from ``first``; of a refusal what it alone would be answered."""
    results: list[dict[str, Any]] = [
        {name: place + first, "status": outcome.status, **error_body(outcome)}
        if isinstance(outcome, ServiceError)
        else {name: place + first, "success": True, "status": status, "url": show(place, outcome)}
        for place, outcome in enumerate(outcomes)
    ]
    succeeded = sum(not isinstance(outcome, ServiceError) for outcome in outcomes)
    counts = {"results": results, "succeeded": succeeded, "failed": len(results) - succeeded}
    return ok({**beside, **counts}, f"{succeeded} of {len(results)} URLs {done}.")


def answer_import(found: Imported) -> Response:
    return answer(
        found.verdicts,
        lambda _, draft: imported_url(draft),
        done="can be imported; nothing was written" if found.dry_run else "were imported",
        status=201,
        name="row",
        first=1,
        format=found.layout,
        dryRun=found.dry_run,
    )


def imported_url(draft: Draft) -> dict[str, Any]:
    """What is not stored has no identifier, and no code that it did not bring."""
    link = draft.link
    shown: dict[str, Any] = {
        "originalUrl": link.original_url,
        "customCode": link.custom_code,
        "title": link.title,
        "clickCount": draft.clicks,
    }
    if link.pk is not None:
        shown |= {"_id": str(link.public_id), "createdAt": iso_utc(link.created_at)}
    code = link.short_code or draft.short_code
    if code:
        shown["shortCode"] = code
    if address := imported_address(draft):
        shown["shortUrl"] = address
    return shown


def imported_address(draft: Draft) -> str | None:
    """Its short URL; None as long as it has no code."""
    link = draft.link
    code = link.custom_code or link.short_code or draft.short_code
    return short_url(None if link.domain is None else link.domain.host, code) if code else None
