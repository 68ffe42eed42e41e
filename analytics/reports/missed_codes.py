"""The unknown codes that visitors of a domain request, and the links that they may have meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.utils import timezone

from accounts.models import Workspace
from analytics.counting.days import unpack_counts
from analytics.counting.unknown_codes import KEPT_DAYS
from analytics.dimensions import BETWEEN_COUNTS
from analytics.reports.periods import RequestedRange
from common.database import fetch
from common.pages import Page, Window, page_of
from domains.models import Domain
from links.code_claims import unavailable_codes
from links.codes import is_code, is_reserved
from links.near_codes import NearLink, nearest_links

_ORDER, _BACKWARD = "hits DESC, code", "hits, code DESC"
_AFTER, _BEFORE = (
    f"(hits {more} %(hits)s OR hits = %(hits)s AND code {later} %(code)s)" for more, later in ("<>", "><")
)
# The default domain has the number 0 in these tables, and none in that of codes.
_BASE = 0
_PAGE = f"""
WITH codes AS MATERIALIZED (
    SELECT code, sum(hits)::bigint AS hits, max(last_at) AS last_at,
        string_agg(nullif(referrers, ''), '{BETWEEN_COUNTS}') AS referrers
    FROM analytics_missedcode WHERE domain_id = %(domain)s AND day BETWEEN %(first)s AND %(last)s GROUP BY code
), page AS (
    SELECT * FROM codes WHERE {{after}} ORDER BY {{order}} LIMIT %(limit)s OFFSET %(offset)s
)
SELECT total.codes, total.others, page.code, page.hits, page.last_at, page.referrers FROM (
    SELECT count(*) AS codes, coalesce((
        SELECT sum(hits) FROM analytics_unknowncode
        WHERE domain_id = %(domain)s AND day BETWEEN %(first)s AND %(last)s
    ), 0)::bigint - coalesce(sum(hits), 0)::bigint AS others
    FROM codes
) total LEFT JOIN page ON true ORDER BY page.hits DESC, page.code
"""  # noqa: S608 # built from constants


class MissedCode(NamedTuple):
    """``referrer``: the host that sent most of the visitors, if any. ``near``: what they may have meant.

    ``is_available``: whether the workspace can give the code to a link.
    """

    code: str
    hits: int
    last_at: datetime
    referrer: str | None
    near: NearLink | None
    is_available: bool


def missed_codes(
    owner: Workspace, domain: Domain | None, query: RequestedRange, window: Window
) -> tuple[Page[MissedCode], int]:
    """A page of the unknown codes of a domain (None: the default one), the most requested first, and how many requests
    were for codes that are not kept. Raises InvalidFields if the dates contradict each other.
    """
    rows = _rows(domain, query, window)
    total, others = rows[0][:2]
    found = _missed(owner, domain, rows)
    return page_of(found, window, total, lambda missed: (missed.hits, missed.code)), others


def all_missed_codes(
    owner: Workspace, domain: Domain | None, query: RequestedRange, *, batch: int
) -> Iterator[list[MissedCode]]:
    """All pages. The links near to the codes are looked up for each of them. Raises InvalidFields at once."""
    rows = _rows(domain, query, None)
    return (_missed(owner, domain, rows[start : start + batch]) for start in range(0, len(rows), batch))


def _rows(domain: Domain | None, query: RequestedRange, window: Window | None) -> list[Any]:
    """None: all of them."""
    now = timezone.now()
    period = query.period(now - timedelta(days=KEPT_DAYS - 1), now)
    values: dict[str, Any] = {
        "domain": _BASE if domain is None else domain.pk,
        "first": period.first,
        "last": period.last,
        "limit": None if window is None else window.rows,
        "offset": 0 if window is None else window.offset,
    }
    after, order = "true", _ORDER
    if window is not None and window.is_backward:
        order = _BACKWARD
    if window is not None and window.place is not None:
        values["hits"], values["code"] = window.place.key
        after = _BEFORE if window.is_backward else _AFTER
    return fetch(_PAGE.format(after=after, order=order), values)


def _missed(owner: Workspace, domain: Domain | None, rows: Sequence[Any]) -> list[MissedCode]:
    domain_id = None if domain is None else domain.pk
    found = [row[2:] for row in rows if row[2] is not None]
    codes = [code for code, *_ in found]
    near = nearest_links(codes, domain_id=domain_id, owner=owner) if codes else {}
    taken = {code for _, code in unavailable_codes([(domain_id, code) for code in codes], owner_id=owner.pk)}
    return [
        MissedCode(
            code,
            hits,
            last_at.astimezone(UTC),
            _most_frequent(referrers),
            near.get(code),
            is_code(code) and not is_reserved(code) and code not in taken,
        )
        for code, hits, last_at, referrers in found
    ]


def _most_frequent(referrers: str | None) -> str | None:
    counts = unpack_counts(referrers or "")
    return max(counts, key=lambda host: counts[host], default=None)
