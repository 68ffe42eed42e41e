"""What the pipeline counted."""

from __future__ import annotations

from analytics.models import DayTotal


def totals() -> list[tuple[int, int]]:
    return list(DayTotal.objects.order_by("link_id", "day").values_list("clicks", "unique_clicks"))
