"""Links with a limit of clicks per visitor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test import Client

from testing.visitors.agents import FIREFOX

MakeLink = Callable[..., dict[str, Any]]
HERE, THERE = "203.0.113.5", "198.51.100.7"


def visit(code: str, address: str = HERE, method: str = "get", **headers: str) -> Any:
    browser = Client(headers={"host": "sho.rt", "user-agent": FIREFOX}, REMOTE_ADDR=address)
    return getattr(browser, method)(f"/{code}", headers=headers)


def statuses(code: str, count: int, address: str = HERE) -> list[int]:
    return [visit(code, address).status_code for _ in range(count)]


def rows(table: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} ORDER BY 1")
        return cursor.fetchall()
