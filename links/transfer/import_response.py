"""The API response of an import: one result for each row."""

from __future__ import annotations

from typing import Any

from rest_framework.response import Response

from common.rest.fields import iso_utc
from links.bulk.verdicts import bulk_response
from links.short_urls import short_url
from links.storage.insert import Draft
from links.transfer.imports import Imported


def import_response(imported: Imported) -> Response:
    return bulk_response(
        imported.verdicts,
        lambda _, draft: imported_url(draft),
        done="can be imported; nothing was written" if imported.dry_run else "were imported",
        status=201,
        name="row",
        first=1,
        format=imported.layout,
        dryRun=imported.dry_run,
    )


def imported_url(draft: Draft) -> dict[str, Any]:
    """A link of a dry run has no identifier, and a short code only if the row contains one."""
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
    """The short URL; None if the link has no code yet."""
    link = draft.link
    code = link.custom_code or link.short_code or draft.short_code
    return short_url(None if link.domain is None else link.domain.host, code) if code else None
