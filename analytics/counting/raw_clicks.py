"""Single requests: narrow rows, with numbers for the texts, which most requests share with many others.

A text has a number per week, so that its row can be deleted with the clicks. It may have several numbers, if several
drainers added it at the same time: nobody waits for another drainer's texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
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
_ROW = Struct(">hiqiiii")
# A number of a text, and the kind with the two flags.
_NUMBER, _REST = Struct(">ii"), Struct(">ihi?i?")
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
    batch: Sequence[Facts], branches: Mapping[int, object], unique: set[int], texts: ClickTexts
) -> None:
    """Store requests. ``branches``, and ``unique`` clicks that led to one of them, by their places in the batch."""
    numbers: dict[int, dict[str, bytes]] = {}
    for week in {facts.time // _WEEK for facts in batch}:
        found = {str(branch) for place, branch in branches.items() if batch[place].time // _WEEK == week}
        for columns in {facts[4:8] for facts in batch if facts.time // _WEEK == week}:
            found.update(columns)
        numbers[week] = {text: _NUMBER.pack(4, number) for text, number in texts.numbers(week, found).items()}
    rows: list[bytes] = []
    # Hot path: each look-up of an attribute counts.
    pack, rests = _ROW.pack, _Rests()
    for place, facts in enumerate(batch):
        time, link_id, kind, _, reason, client, where, referrer, _, scanned, _, _ = facts
        number = numbers[time // _WEEK]
        minute, microsecond = divmod(time, MINUTE_MICROSECONDS)
        rows += (
            pack(11, 8, link_id, 4, minute, 4, microsecond),
            number[client],
            number[where],
            number[referrer],
            number[reason],
            number[str(branches[place]) if place in branches else ""],
            rests[kind, scanned, place in unique],
        )
    copy_rows(_ROWS, rows)


class _Rests(dict[tuple[int, bool, bool], bytes]):
    """The last columns of rows, as a cache."""

    def __missing__(self, columns: tuple[int, bool, bool]) -> bytes:
        kind, scanned, is_unique = columns
        self[columns] = rest = _REST.pack(2, kind, 1, scanned, 1, is_unique)
        return rest
