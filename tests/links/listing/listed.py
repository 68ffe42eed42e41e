"""What a list of links has."""

from __future__ import annotations

from typing import Any

from django.db import connection
from rest_framework.test import APIClient

from accounts.models import User


def listed(api: APIClient, **query: object) -> dict[str, Any]:
    response = api.get("/api/urls", query)
    assert response.status_code == 200, response.content
    body = response.json()
    assert body.keys() - {"warnings"} == {"success", "data"}
    assert body["success"] is True
    assert body["data"].keys() == {"urls", "pagination"}
    return body["data"]


def listed_titles(api: APIClient, **query: object) -> list[str | None]:
    """The titles of a list. Asserts that the total equals their number."""
    data = listed(api, **query)
    assert data["pagination"]["total"] == len(data["urls"])
    return [url["title"] for url in data["urls"]]


def total(api: APIClient, **query: object) -> int:
    return listed(api, **query)["pagination"]["total"]


def stock(owner: User, count: int) -> None:
    """Dozens of links, some with equal titles, creation dates, clicks and tags."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO links_link (public_id, owner_id, short_code, original_url, destination, title, tags,"
            " tag_keys, is_active, utm, allowed_countries, blocked_countries, allowed_devices, redirect_type,"
            " created_at)"
            " SELECT gen_random_uuid(), %(owner)s, 'stock' || n, 'https://example.com/' || n,"
            " 'https://example.com/' || n,"
            " (ARRAY[NULL, '', 'B', 'a', 'b', '\u00e4', 'B'])[n %% 7 + 1], '{}',"
            " CASE n %% 2 WHEN 0 THEN ARRAY['even'] ELSE '{}' END,"
            " n %% 3 > 0, '{}', '{}', '{}', '{}', 302,"
            " '2026-01-01T00:00Z'::timestamptz + (n * 7 %% 5) * interval '1 day'"
            " FROM generate_series(1, %(count)s) n",
            {"owner": owner.pk, "count": count},
        )
        cursor.execute(
            "INSERT INTO links_code (code, kind, link_id) SELECT short_code, 'short', id FROM links_link"
            " WHERE owner_id = %(owner)s",
            {"owner": owner.pk},
        )
        cursor.execute(
            "UPDATE links_clickcounter SET clicks = link_id * 11 %% 4 WHERE owner_id = %(owner)s",
            {"owner": owner.pk},
        )


def naive_order(owner: User, sort_by: str, sort_order: str, condition: str = "true") -> list[str]:
    """All short codes, sorted in Python."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT l.short_code, l.id, l.created_at, coalesce(l.title, ''), n.clicks FROM links_link l"
            f" JOIN links_clickcounter n ON n.link_id = l.id WHERE l.owner_id = %s AND {condition}",
            [owner.pk],
        )
        rows = cursor.fetchall()
    column = {"createdAt": 2, "title": 3, "clickCount": 4}[sort_by]
    rows.sort(key=lambda row: (row[column], row[1]), reverse=sort_order == "desc")
    return [row[0] for row in rows]


def spread_over_periods() -> None:
    """Dates over several months, out of insertion order, with empty months in between."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET created_at = created_at + (id * 5 % 3) * interval '70 days'")
