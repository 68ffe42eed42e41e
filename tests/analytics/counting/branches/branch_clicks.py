"""Clicks on the branches of a link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from analytics.journal.records import (
    Record,
    encode,
)
from analytics.journal.writer import journal
from analytics.models import DayCount, Dimension, Kind
from analytics.visitors.visitor import Visitor
from links.models import Link
from testing.analytics.branches import Branch, branch, set_branches
from testing.analytics.clicks import drain
from testing.visitors.agents import FIREFOX

MakeLink = Callable[..., dict[str, Any]]
GERMANY, FRANCE, SPLIT = (branch(number, name) for number, name in enumerate(("Germany", "France", "B"), 1))
ADDRESSES = [f"8.8.8.{number}" for number in range(10)]
NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=5)


@pytest.fixture
def routed(make_link: MakeLink) -> dict[str, Any]:
    link = make_link()
    set_branches(link["_id"], [GERMANY, FRANCE], [SPLIT])
    return link


@pytest.fixture
def pk(routed: dict[str, Any]) -> int:
    return Link.objects.get(public_id=routed["_id"]).pk


def click(link: int, number: int, seconds: float = 0, visitor: int = 0, **fields: Any) -> bytes:
    """The record of a visit so many seconds after noon."""
    microseconds = int((NOON + timedelta(seconds=seconds)).timestamp() * 1_000_000)
    record = Record(microseconds, link, Kind.CLICK, number << 4, ADDRESSES[visitor], "", FIREFOX, "")
    return encode(record._replace(**fields))


def count(clicks: Sequence[bytes]) -> None:
    for payload in clicks:
        journal().append(payload)
    assert drain() == len(clicks)


def clicks_of(dimension: Dimension = Dimension.BRANCH) -> dict[str, int]:
    """The clicks by the branch's ``_id``."""
    rows = DayCount.objects.filter(dimension=dimension).values_list("value", "clicks")
    totals: dict[str, int] = {}
    for value, clicks in rows:
        totals[value.replace("-", "")] = totals.get(value.replace("-", ""), 0) + clicks
    return totals


def unique_clicks() -> dict[str, int]:
    return clicks_of(Dimension.UNIQUE_BRANCH)


def identifier(entry: Branch) -> str:
    return str(entry["_id"])


def visitor(**fields: Any) -> Visitor:
    usual = {
        "address": ADDRESSES[0],
        "user_agent": FIREFOX,
        "referrer": "",
        "kind": "click",
        "opted_out": False,
    }
    return Visitor(**{**usual, **fields})
