"""Requests for unknown codes of a domain: misprinted codes, deleted links and guesses."""

from __future__ import annotations

from datetime import date

from django.db import connection

from analytics.reports.periods import Period
from domains.models import Domain

_BY_DATE = """
SELECT each.day::date, coalesce(sum(u.hits), 0)::bigint
FROM generate_series(%(first)s::date, %(last)s::date, interval '1 day') each (day)
LEFT JOIN analytics_unknowncode u ON u.domain_id = %(domain)s AND u.day = each.day::date
GROUP BY 1 ORDER BY 1
"""


def unknown_codes(domain: Domain, period: Period) -> list[tuple[date, int]]:
    """The number of requests for each day (UTC) of the period, including days without any."""
    with connection.cursor() as cursor:
        cursor.execute(_BY_DATE, {"domain": domain.pk, "first": period.first, "last": period.last})
        rows: list[tuple[date, int]] = cursor.fetchall()
        return rows
