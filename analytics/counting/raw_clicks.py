"""Single requests: narrow rows, with numbers for the texts, which most requests share with many others.

The texts of clients have the language: they have fewer values than those of places.

A text has a number per week, so that its row can be deleted with the clicks. It may have several numbers, if several
drainers added it at the same time: nobody waits for another drainer's texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from struct import Struct

from django.db import connection, transaction

from analytics.counting.enrichment import Facts
from analytics.models import MINUTE_MICROSECONDS, WEEK_MINUTES
from common.database import copy_rows, prepared_cursor

_WEEK = WEEK_MINUTES * MINUTE_MICROSECONDS
# Of one week. A new drainer reads as many.
MAX_TEXTS = 100_000

_ROWS = (
    "analytics_rawclick"
    " (link_id, minute, microsecond, client, place, referrer, reason, branch, kind, scanned, is_unique)"
)
_ROWS_WITH_ID = _ROWS.replace("(", "(id, ")
_pack_id = Struct(">hiq").pack
# The number of columns, and each one's size and value.
_ROW = Struct(">hiqiiiiiiiiiiiiiiihi?i?")
# The reason, the client, the place and the referrer.
_TEXTS = tuple(itemgetter(Facts._fields.index(name)) for name in ("reason", "client", "place", "referrer"))
_READ = "SELECT text, number FROM analytics_clicktext WHERE week = %s LIMIT %s"
_CHECK = "SELECT text FROM analytics_clicktext WHERE week = %s AND number = %s"
_ADD = "INSERT INTO analytics_clicktext (week, text) SELECT %s, unnest(%s::text[]) RETURNING text, number"


class ClickTexts:
    """Numbers of texts that the database has, as a cache of one drainer."""

    def __init__(self) -> None:
        self._weeks: dict[int, dict[str, int]] = {}
        # The text with the highest number of each week: a database that was restored from an older dump lacks it.
        self._latest: dict[int, tuple[int, str]] = {}

    def clear(self) -> None:
        self._weeks.clear()
        self._latest.clear()

    def numbers(self, week: int, texts: Iterable[str]) -> Mapping[str, int]:
        """Numbers of these texts, added in the caller's transaction if they are missing. Empty text has 0."""
        known = self._known(week)
        numbers = {text: known[text] for text in texts if text in known}
        missing = [text for text in texts if text and text not in known]
        if missing:
            with connection.cursor() as cursor:
                cursor.execute(_ADD, [week, missing])
                added = dict(cursor.fetchall())
            numbers |= added
            transaction.on_commit(partial(self._keep, week, added))
        numbers[""] = 0
        return numbers

    def _known(self, week: int) -> Mapping[str, int]:
        with prepared_cursor() as cursor:
            if week in self._latest:
                number, text = self._latest[week]
                cursor.execute(_CHECK, [week, number])
                if cursor.fetchall() != [(text,)]:
                    self.clear()
            if week not in self._weeks:
                cursor.execute(_READ, [week, MAX_TEXTS])
                self._keep(week, dict(cursor.fetchall()))
        return self._weeks.get(week, {})

    def _keep(self, week: int, numbers: Mapping[str, int]) -> None:
        """Keep the two latest weeks: the texts of older ones may be deleted while they are known here."""
        known = self._weeks.setdefault(week, {})
        if numbers and len(known) + len(numbers) <= 2 * MAX_TEXTS:
            known |= numbers
            latest = max((number, text) for text, number in numbers.items())
            self._latest[week] = max(latest, self._latest.get(week, latest))
        for old in sorted(self._weeks)[:-2]:
            del self._weeks[old]
            self._latest.pop(old, None)


def copy_clicks(
    batch: Sequence[Facts],
    branches: Mapping[int, object],
    unique: set[int],
    texts: ClickTexts,
    ids: Sequence[int] = (),
) -> None:
    """Store requests. ``branches``, and ``unique`` clicks that led to one of them, by their places in the batch.

    ``ids``: of all requests, if the caller has taken them.
    """
    numbers: Mapping[str, int] = {}
    by_week: dict[int, Mapping[str, int]] = {}
    weeks = {facts[0] // _WEEK for facts in batch}
    for week in weeks:
        found = {str(branch) for place, branch in branches.items() if batch[place].time // _WEEK == week}
        of_week = batch if len(weeks) == 1 else [facts for facts in batch if facts.time // _WEEK == week]
        for column in _TEXTS:
            found.update(map(column, of_week))
        by_week[week] = texts.numbers(week, found)
    rows: list[bytes] = []
    # Hot path: each look-up of an attribute counts. Most requests are of the same week as the one before.
    week, pack = -1, _ROW.pack
    for place, facts in enumerate(batch):
        time, link_id, kind, _, reason, client, where, referrer, _, scanned, _, _ = facts
        if time // _WEEK != week:
            week = time // _WEEK
            numbers = by_week[week]
        minute, microsecond = divmod(time, MINUTE_MICROSECONDS)
        branch = numbers[str(branches[place])] if place in branches else 0
        rows.append(
            pack(
                11, 8, link_id, 4, minute, 4, microsecond, 4, numbers[client], 4, numbers[where],
                4, numbers[referrer], 4, numbers[reason], 4, branch, 2, kind, 1, scanned, 1, place in unique,
            )
        )  # fmt: skip
    if ids:
        rows = [_pack_id(12, 8, number) + row[2:] for number, row in zip(ids, rows, strict=True)]
    copy_rows(_ROWS_WITH_ID if ids else _ROWS, rows)
