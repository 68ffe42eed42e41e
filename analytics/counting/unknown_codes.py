"""Requests for codes that a domain does not have: their number by day, and the codes themselves.

Scanners ask for any number of codes. So a domain keeps at most MAX_CODES of a day, those that come first, and of them
the hits, the last one, and the most frequent referrers. Only the number by day has all requests.

A drainer adds to rows of its slot, see `analytics.counting.days`: drainers that count at the same moment may each fill
the room that is left.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from analytics.counting.day_visitors import date_of
from analytics.counting.days import pack_counts, unpack_counts
from analytics.counting.enrichment import DAY_MICROSECONDS, site_of
from analytics.journal.records import Fields

MAX_CODES = 1_000
MAX_REFERRERS = 3
KEPT_DAYS = 30
# What people mistype. Scanners ask for files with an extension.
_KEPT = re.compile(rb"[A-Za-z0-9][A-Za-z0-9_-]{0,49}")
_MAX_HOST = 253

_ADD = """
INSERT INTO analytics_unknowncode AS t (domain_id, day, hits, codes, slot)
SELECT *, %s FROM unnest(%s::bigint[], %s::date[], %s::bigint[], %s::smallint[]) ORDER BY 1, 2
ON CONFLICT (domain_id, day, slot) DO UPDATE SET hits = t.hits + EXCLUDED.hits, codes = t.codes + EXCLUDED.codes
"""
_STORED = """
SELECT domain_id, day, sum(codes) FROM analytics_unknowncode
JOIN unnest(%s::bigint[], %s::date[]) sent (domain_id, day) USING (domain_id, day) GROUP BY domain_id, day
"""
_READ = """
SELECT domain_id, day, code, slot, referrers FROM analytics_missedcode
JOIN unnest(%s::bigint[], %s::date[], %s::text[]) sent (domain_id, day, code) USING (domain_id, day, code)
"""
# Nobody else writes rows of the slot, so that the referrers, which were read before, are complete.
_ADD_CODES = """
INSERT INTO analytics_missedcode AS m (domain_id, day, code, hits, last_at, referrers, slot)
SELECT domain_id, day, code, hits, 'epoch'::timestamptz + last * interval '1 microsecond', referrers, %s
FROM unnest(%s::bigint[], %s::date[], %s::text[], %s::integer[], %s::bigint[], %s::text[])
    sent (domain_id, day, code, hits, last, referrers)
ORDER BY 1, 2, code COLLATE "C"
ON CONFLICT (domain_id, day, code, slot) DO UPDATE
SET hits = m.hits + EXCLUDED.hits, last_at = greatest(m.last_at, EXCLUDED.last_at), referrers = EXCLUDED.referrers
"""
_DELETE = "DELETE FROM analytics_missedcode WHERE day < (now() AT TIME ZONE 'UTC')::date - %s"

# A domain and a day since 1970, and a code of them.
_Day = tuple[int, int]
_Key = tuple[int, int, str]


@dataclass(slots=True)
class _Requests:
    """The requests of a batch for one code. ``last``: in microseconds since 1970."""

    hits: int = 0
    last: int = 0
    referrers: Counter[str] = field(default_factory=Counter)


def add_unknown_codes(records: Iterable[Fields], slot: int) -> None:
    """Count records of unknown codes in the caller's transaction, which has chosen the slot. Raises ValueError."""
    hits = Counter[_Day]()
    requested: defaultdict[_Day, dict[bytes, _Requests]] = defaultdict(dict)
    for record in records:
        day = record.subject, record.time // DAY_MICROSECONDS
        hits[day] += 1
        code = record.reason
        if _KEPT.fullmatch(code):
            requests = requested[day].setdefault(code, _Requests())
            requests.hits += 1
            requests.last = max(requests.last, record.time)
            if host := site_of(record.referrer)[:_MAX_HOST]:
                requests.referrers[host] += 1
    codes = {
        (*day, code.decode()): requests
        for day, of_day in requested.items()
        for code, requests in _most_requested(of_day)
    }
    added = _add_codes(codes, slot) if codes else Counter[_Day]()
    with connection.cursor() as cursor:
        numbers = [added[day] for day in hits]
        cursor.execute(_ADD, [slot, *_columns(hits), list(hits.values()), numbers])


def delete_old_codes() -> None:
    """Keep the codes of KEPT_DAYS days by the database's clock. Their numbers by day never expire."""
    with connection.cursor() as cursor:
        cursor.execute(_DELETE, [KEPT_DAYS - 1])


def packed_referrers(referrers: Mapping[str, int]) -> str:
    """The most frequent of these hosts, the first of equally frequent ones."""
    return pack_counts(dict(Counter(referrers).most_common(MAX_REFERRERS)))


def _most_requested(codes: Mapping[bytes, _Requests]) -> Sequence[tuple[bytes, _Requests]]:
    """Bounds what a batch of a scanner reads."""
    if len(codes) <= MAX_CODES:
        return list(codes.items())
    return sorted(codes.items(), key=lambda item: (-item[1].hits, item[1].last))[:MAX_CODES]


def _add_codes(codes: Mapping[_Key, _Requests], slot: int) -> Counter[_Day]:
    """Add to the codes that are stored, and store new ones if there is room. Returns how many are new, by day."""
    days = {key[:2] for key in codes}
    numbers = {date_of(number): number for _, number in days}
    with connection.cursor() as cursor:
        cursor.execute(_STORED, _columns(days))
        stored = {(domain, numbers[day]): int(count) for domain, day, count in cursor.fetchall()}
        cursor.execute(_READ, [*_columns(codes), [code for *_, code in codes]])
        known: dict[_Key, str] = {}
        for domain, day, code, of_slot, referrers in cursor.fetchall():
            key = domain, numbers[day], code
            known[key] = referrers if of_slot == slot else known.get(key, "")
        added = Counter[_Day]()
        kept: list[_Key] = []
        for key in codes:
            if key not in known:
                if stored.get(key[:2], 0) + added[key[:2]] >= MAX_CODES:
                    continue
                added[key[:2]] += 1
            kept.append(key)
        if kept:
            rows = [codes[key] for key in kept]
            referrers = [
                packed_referrers(Counter(unpack_counts(known.get(key, ""))) + codes[key].referrers)
                for key in kept
            ]
            cursor.execute(
                _ADD_CODES,
                [
                    slot,
                    *_columns(kept),
                    [code for *_, code in kept],
                    [row.hits for row in rows],
                    [row.last for row in rows],
                    referrers,
                ],
            )
    return added


def _columns(days: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    """The domains and the dates."""
    domains, numbers = zip(*(key[:2] for key in days), strict=True)
    return [list(domains), [date_of(number) for number in numbers]]
