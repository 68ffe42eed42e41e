"""What the service counts of itself; ``/metrics`` tells it. No function here ever raises, or waits for anything.

One call costs a few microseconds. Who has less time adds up by itself and hands over the sums now and then.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import ParamSpec

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

from common.metric_files import share

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
# Upper ends, in seconds.
REDIRECT_BUCKETS = (
    *(0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5),
    *(0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0),
)
API_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)

P = ParamSpec("P")
log = logging.getLogger(__name__)

if _folder := os.environ.get(FOLDER_VARIABLE):
    try:
        share(Path(_folder))
    except OSError as error:
        log.error("What this process counts is not in the metrics: %s", error)

# What this process counts, if it shares nothing.
REGISTRY = CollectorRegistry()


class _Histogram(Histogram):
    """Takes observations in bulk."""

    def add(self, counts: Sequence[int], seconds: float) -> None:
        for bucket, number in zip(self._buckets, counts, strict=True):
            if number:
                bucket.inc(number)
        self._sum.inc(seconds)


_REDIRECTS = Counter(
    "shortener_redirects", "Requests for links, by what came of them", ["lane", "outcome"], registry=REGISTRY
)
_REDIRECT_SECONDS = _Histogram(
    "shortener_redirect_seconds",
    "Time to answer a request for a link",
    ["lane"],
    registry=REGISTRY,
    buckets=REDIRECT_BUCKETS,
)
_LOOKUPS = Counter(
    "shortener_destination_lookups", "Links looked up in the cache", ["result"], registry=REGISTRY
)
_API_SECONDS = Histogram(
    "shortener_api_request_seconds",
    "Time to answer a request of the API",
    ["route", "status"],
    registry=REGISTRY,
    buckets=API_BUCKETS,
)
_DRAINED = Counter("shortener_click_records_drained", "Records taken from the journal", registry=REGISTRY)
_DATABASE_ERRORS = Counter(
    "shortener_database_errors", "What the database failed", ["where"], registry=REGISTRY
)


def _never_raises(function: Callable[P, None]) -> Callable[P, None]:
    """A fork's first call opens files, for which there may be no room; then nothing about them can be relied on."""

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except Exception as error:
            log.error("Not in the metrics: %s", error)

    return guarded


def collect_counted() -> Iterator[Metric]:
    """By all processes that share a folder, or by this one."""
    yield from (
        MultiProcessCollector(None, _folder).collect()  # type: ignore[no-untyped-call]
        if _folder
        else REGISTRY.collect()
    )


@_never_raises
def count_redirects(lane: str, outcome: str, number: int = 1) -> None:
    """``lane`` is ``fast`` or ``django``. ``outcome`` is what the visitor got: ``301`` or ``302`` to the destination,
    ``elsewhere`` (where the domain sends those whom a link cannot serve), ``unlocked`` (a password was right), or the
    reason of a refusal (`redirects.refusals`), where ``unknown_code`` is the ``not_found`` of a host that is ours.
    """
    _redirects(lane, outcome).inc(number)


@_never_raises
def observe_redirects(lane: str, counts: Sequence[int], seconds: float) -> None:
    """``counts[i]`` requests took at most ``REDIRECT_BUCKETS[i]`` and more than the one before: its index
    is ``bisect_left(REDIRECT_BUCKETS, took)``. One more number at the end is for all that took longer. ``seconds`` is
    what they took together.
    """
    _redirect_seconds(lane).add(counts, seconds)


@_never_raises
def observe_redirect(lane: str, outcome: str, seconds: float) -> None:
    """One request: counted, and its time with it."""
    _redirects(lane, outcome).inc()
    _redirect_seconds(lane).observe(seconds)


@_never_raises
def count_lookups(*, hits: int = 0, misses: int = 0) -> None:
    """Of the cache of destinations."""
    if hits:
        _lookups("hit").inc(hits)
    if misses:
        _lookups("miss").inc(misses)


@_never_raises
def observe_api_request(route: str, status: int, seconds: float) -> None:
    """``route`` as it is documented: ``/api/urls/{id}``."""
    _api_seconds(route, f"{status // 100}xx").observe(seconds)


@_never_raises
def count_drained(records: int) -> None:
    _DRAINED.inc(records)


@_never_raises
def count_database_error(where: str) -> None:
    """``redirect``, ``api``, ``page``: one answer; ``background``: one turn of a process."""
    _database_errors(where).inc()


@cache
def _redirects(lane: str, outcome: str) -> Counter:
    return _REDIRECTS.labels(lane, outcome)


@cache
def _redirect_seconds(lane: str) -> _Histogram:
    return _REDIRECT_SECONDS.labels(lane)


@cache
def _lookups(result: str) -> Counter:
    return _LOOKUPS.labels(result)


@cache
def _api_seconds(route: str, status: str) -> Histogram:
    return _API_SECONDS.labels(route, status)


@cache
def _database_errors(where: str) -> Counter:
    return _DATABASE_ERRORS.labels(where)
