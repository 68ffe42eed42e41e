"""What the fast lane has done, added up here until it is worth telling the metrics."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from common.metrics import REDIRECT_BUCKETS, count_lookups, count_redirects, observe_redirects


class Counts:
    def __init__(self) -> None:
        self._statuses: Counter[int] = Counter()
        self._buckets = [0] * (len(REDIRECT_BUCKETS) + 1)
        self._seconds = 0.0

    def add(self, statuses: Sequence[int], seconds: float) -> None:
        """These were answered together, and each has waited for all of them."""
        self._statuses.update(statuses)
        self._buckets[bisect_left(REDIRECT_BUCKETS, seconds)] += len(statuses)
        self._seconds += seconds * len(statuses)

    def report(self) -> None:
        if not self._seconds:
            return
        count_lookups(hits=self._statuses.total())
        for status, number in self._statuses.items():
            count_redirects("fast", str(status), number)
        observe_redirects("fast", self._buckets, self._seconds)
        self._statuses.clear()
        self._buckets = [0] * len(self._buckets)
        self._seconds = 0.0
