"""Links that tests delete and bring back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import F
from rest_framework.test import APIClient

from links.models import DeletedLink
from testing.links.calls import address


def delete(api: APIClient, *links: dict[str, Any]) -> None:
    ids = [link["_id"] for link in links]
    response = (
        api.post("/api/urls/bulk-delete", {"ids": ids}) if len(ids) > 1 else api.delete(address(*links))
    )
    assert response.status_code == 200


def undelete(api: APIClient, link: dict[str, Any]) -> Any:
    return api.post(f"{address(link)}/undelete")


def rows_of(table: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT t::text FROM {table} t ORDER BY 1")
        return [row for (row,) in cursor.fetchall()]


def pass_days(days: int) -> None:
    """The time of the database cannot be changed, so the deletions move into the past."""
    DeletedLink.objects.update(deleted_at=F("deleted_at") - timedelta(days=days))
