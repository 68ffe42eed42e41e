"""Writes single clicks to the tables, with any time and any texts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.db import connection

from analytics.counting.enrichment import Facts
from analytics.counting.raw_clicks import ClickTexts, copy_clicks
from analytics.dimensions import UNKNOWN
from analytics.models import Click

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def store_clicks(clicks: Iterable[Click]) -> None:
    """Store these clicks, which need no id."""
    rows = list(clicks)
    batch = [
        Facts(
            time=(click.time - _EPOCH) // timedelta(microseconds=1), link_id=click.link_id, kind=click.kind,
            counted=False, reason=click.reason,
            client=f"{click.device}\t{click.operating_system}\t{click.browser}{_known(click.language)}",
            place=f"{click.country} {click.city}{_known(click.region)}", referrer=click.referrer, visitor=None,
            scanned=bool(click.scanned), branch_number=0, keys=(),
        )
        for click in rows
    ]  # fmt: skip
    branches = {place: click.branch for place, click in enumerate(rows) if click.branch is not None}
    copy_clicks(batch, branches, {place for place, click in enumerate(rows) if click.is_unique}, ClickTexts())


def _known(value: str) -> str:
    return f"\t{value}" if value and value != UNKNOWN else ""


def set_branch_of_all_clicks(branch: object) -> None:
    """Let every click have led to this branch."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH texts AS (
                INSERT INTO analytics_clicktext (week, text)
                SELECT DISTINCT minute / 10080, %s FROM analytics_rawclick RETURNING week, number
            ) UPDATE analytics_rawclick SET branch = number FROM texts WHERE week = minute / 10080
            """,
            [str(branch)],
        )
