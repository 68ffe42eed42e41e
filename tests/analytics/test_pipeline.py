from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client

from analytics.models import Click, DayCount, DayTotal, LifeCount, QuarterTotal
from tests.clicks import drain

MakeLink = Callable[..., dict[str, Any]]


def test_a_click_reaches_every_table(visitor: Client, make_link: MakeLink) -> None:
    link = make_link()
    for _ in range(3):
        assert (
            visitor.get(
                f"/{link['shortCode']}",
                REMOTE_ADDR="8.8.8.8",
                headers={"referer": "https://www.example.net/a?b=c#d"},
            ).status_code
            == 302
        )
    assert drain() == 3
    assert (
        list(Click.objects.values_list("kind", "country", "city", "device", "referrer"))
        == [(0, "US", "unknown", "desktop", "https://www.example.net/a")] * 3
    )
    assert [(t.clicks, t.unique_clicks) for t in DayTotal.objects.all()] == [(3, 1)]
    assert [(t.clicks, t.unique_clicks) for t in QuarterTotal.objects.all()] == [(3, 1)]
