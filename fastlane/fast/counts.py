"""Aggregates the fast lane's counts, so that the metrics are updated once per interval."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from common.host.metrics import REDIRECT_BUCKETS, count_lookups, count_redirects, observe_redirects
from redirects import refusals

# The outcomes of the lane's answers: the status of a redirect to a link's destination, or one of these.
# PREVIEW: of a link, or its refusal. It is not in the metrics of redirects.
ELSEWHERE, COUNTRY, DEVICE, PREVIEW, NOT_FOUND, GUESSING = 1, 2, 3, 200, 404, 429
LABELS = {
    ELSEWHERE: "elsewhere",
    COUNTRY: refusals.COUNTRY.reason,
    DEVICE: refusals.DEVICE.reason,
    NOT_FOUND: "unknown_code",
    GUESSING: refusals.GUESSING.reason,
}


class Counts:
    def __init__(self) -> None:
        self._outcomes: Counter[int] = Counter()
        self._buckets = [0] * (len(REDIRECT_BUCKETS) + 1)
        self._seconds = 0.0

    def add(self, outcomes: Sequence[int], seconds: float) -> None:
        """Add a batch of responses, each of which took ``seconds``, the time of the whole batch."""
        if PREVIEW in outcomes:
            outcomes = [outcome for outcome in outcomes if outcome != PREVIEW]
        self._outcomes.update(outcomes)
        self._buckets[bisect_left(REDIRECT_BUCKETS, seconds)] += len(outcomes)
        self._seconds += seconds * len(outcomes)

    def report(self) -> None:
        if not self._seconds:
            return
        # Requests of refused networks cause no cache lookup.
        count_lookups(hits=self._outcomes.total() - self._outcomes[GUESSING])
        for outcome, number in self._outcomes.items():
            count_redirects("fast", LABELS.get(outcome) or str(outcome), number)
        observe_redirects("fast", self._buckets, self._seconds)
        self._outcomes.clear()
        self._buckets = [0] * len(self._buckets)
        self._seconds = 0.0
