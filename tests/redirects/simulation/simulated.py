"""What tests read of a simulated visit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection

Simulate = Callable[..., dict[str, Any]]
DESTINATION = "https://example.com/page"
FOLLOWED = {
    "status": 302,
    "reason": None,
    "location": DESTINATION,
    "rule": None,
    "variant": None,
    "counted": True,
    "kind": "click",
}
MakeLink = Callable[..., dict[str, Any]]


def last(simulation: dict[str, Any]) -> tuple[str, bool, str]:
    step = simulation["steps"][-1]
    return step["check"], step["passed"], step["detail"]


def detail(simulation: dict[str, Any], check: str) -> str:
    [text] = [step["detail"] for step in simulation["steps"] if step["check"] == check]
    return text


def rows_of_every_table() -> dict[str, int]:
    with connection.cursor() as cursor:
        tables = sorted(connection.introspection.table_names(cursor))
        cursor.execute(" UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in tables))
        return dict(cursor.fetchall())
