"""Clients that walk through a list."""

from __future__ import annotations

FILTERS = [
    ({"tags": "even"}, "'even' = ANY (l.tag_keys)"),
    ({"tags": "EVEN,other"}, "'even' = ANY (l.tag_keys)"),
    ({"tags": "even", "isActive": "true"}, "'even' = ANY (l.tag_keys) AND l.is_active"),
    ({"tags": "even", "isActive": "false"}, "'even' = ANY (l.tag_keys) AND NOT l.is_active"),
    ({"search": "stock"}, "true"),
    ({"search": "stock1"}, "l.short_code LIKE 'stock1%%'"),
    ({"search": "1"}, "l.short_code LIKE '%%1%%'"),
    ({"search": "k1"}, "l.short_code LIKE 'stock1%%'"),
    ({"search": "stock", "tags": "even"}, "'even' = ANY (l.tag_keys)"),
    ({"search": "stock", "isActive": "false"}, "NOT l.is_active"),
    (
        {"createdFrom": "2026-01-03", "createdBefore": "2026-04-01"},
        "l.created_at >= '2026-01-03Z' AND l.created_at < '2026-04-01Z'",
    ),
    (
        {"tags": "even", "createdFrom": "2026-03-01"},
        "'even' = ANY (l.tag_keys) AND l.created_at >= '2026-03-01Z'",
    ),
]
