"""The service's metrics, served at ``/metrics``. No function here ever raises or waits.

One call costs a few microseconds. The fast lane therefore adds up its own counts and flushes them periodically.
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

from common.host.metric_files import share

# Part of another metric, see `shortener_project.web.metrics`.
UNSTORED_DROPS = "shortener_clicks_dropped_unstored"
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
# Upper bounds in seconds.
REDIRECT_BUCKETS = (
    *(0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5),
    *(0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0),
)
API_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)

P = ParamSpec("P")
log = logging.getLogger(__name__)

# Why this process shares no folder although it should. Its forks would inherit that.
sharing_error: OSError | None = None

if _folder := os.environ.get(FOLDER_VARIABLE):
    try:
        share(Path(_folder))
    except OSError as error:
        sharing_error = error
        log.error("This process's metrics are not shared: %s", error)

# Used only if this process shares no folder.
REGISTRY = CollectorRegistry()


class _Histogram(Histogram):
    """A histogram that accepts observations in bulk."""

    def add(self, counts: Sequence[int], seconds: float) -> None:
        for bucket, number in zip(self._buckets, counts, strict=True):
            if number:
                bucket.inc(number)
        self._sum.inc(seconds)


_REDIRECTS = Counter(
    "shortener_redirects", "Requests for links, by outcome", ["lane", "outcome"], registry=REGISTRY
)
_REDIRECT_SECONDS = _Histogram(
    "shortener_redirect_seconds",
    "Latency of requests for links",
    ["lane"],
    registry=REGISTRY,
    buckets=REDIRECT_BUCKETS,
)
_LOOKUPS = Counter(
    "shortener_destination_lookups", "Lookups in the destination cache", ["result"], registry=REGISTRY
)
_API_SECONDS = Histogram(
    "shortener_api_request_seconds",
    "Latency of API requests",
    ["route", "status"],
    registry=REGISTRY,
    buckets=API_BUCKETS,
)
_DRAINED = Counter("shortener_click_records_drained", "Records read from the journal", registry=REGISTRY)
_TO_DATABASE = Counter(
    "shortener_clicks_to_database",
    "Visits that the database recorded because the journal could not be written",
    registry=REGISTRY,
)
_UNSTORED_DROPS = Counter(UNSTORED_DROPS, "Dropped clicks that no file counts", registry=REGISTRY)
_UNLOGGED_REQUESTS = Counter(
    "shortener_api_requests_unlogged",
    "API requests that are missing in the log of their workspace",
    registry=REGISTRY,
)
_DATABASE_ERRORS = Counter(
    "shortener_database_errors",
    "Requests and iterations that failed because of the database",
    ["where"],
    registry=REGISTRY,
)
_REPORTS = Counter(
    "shortener_reports",
    "Reports, exports and lists that a standby could answer, by the server that did",
    ["server"],
    registry=REGISTRY,
)
_RESTARTS = Counter(
    "shortener_process_restarts",
    "Processes of the service that were started again",
    ["process", "reason"],
    registry=REGISTRY,
)


def _never_raises(function: Callable[P, None]) -> Callable[P, None]:
    """Log errors instead of raising. The first call after a fork opens files, which fails on a full disk."""

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except Exception as error:
            log.error("Metric not counted: %s", error)

    return guarded


def collect_counted() -> Iterator[Metric]:
    """The metrics of all processes that share the folder, or of this process."""
    yield from (MultiProcessCollector(None, _folder).collect() if _folder else REGISTRY.collect())


@_never_raises
def count_redirects(lane: str, outcome: str, number: int = 1) -> None:
    """Count requests for links.

    ``lane`` is ``fast`` or ``django``. ``outcome`` is the visitor's result; docs/monitoring.md lists them.
    """
    _redirects(lane, outcome).inc(number)


@_never_raises
def observe_redirects(lane: str, counts: Sequence[int], seconds: float) -> None:
    """Add latencies in bulk.

    ``counts[i]`` requests took at most ``REDIRECT_BUCKETS[i]`` and more than the previous bound: the index is
    ``bisect_left(REDIRECT_BUCKETS, latency)``. The last count is for longer ones. ``seconds`` is their total
    time.
    """
    _redirect_seconds(lane).add(counts, seconds)


@_never_raises
def observe_redirect(lane: str, outcome: str, seconds: float) -> None:
    """Count one request and its latency."""
    _redirects(lane, outcome).inc()
    _redirect_seconds(lane).observe(seconds)


@_never_raises
def count_lookups(*, hits: int = 0, misses: int = 0, remembered: int = 0) -> None:
    """Count lookups in the destination cache. ``remembered``: links followed while the database was unreachable."""
    if hits:
        _lookups("hit").inc(hits)
    if misses:
        _lookups("miss").inc(misses)
    if remembered:
        _lookups("remembered").inc(remembered)


@_never_raises
def observe_api_request(route: str, status: int, seconds: float) -> None:
    """``route`` is the documented form: ``/api/urls/{id}``."""
    _api_seconds(route, f"{status // 100}xx").observe(seconds)


@_never_raises
def count_drained(records: int) -> None:
    _DRAINED.inc(records)


@_never_raises
def count_click_to_database() -> None:
    _TO_DATABASE.inc()


@_never_raises
def count_unstored_drop() -> None:
    """Count a lost click that the file of lost clicks does not count, because it cannot be written either."""
    _UNSTORED_DROPS.inc()


@_never_raises
def count_unlogged_requests(number: int) -> None:
    _UNLOGGED_REQUESTS.inc(number)


@_never_raises
def count_database_error(operation: str) -> None:
    """``operation`` is ``redirect``, ``api`` or ``page`` for one response, ``background`` for one iteration of a
    process.
    """
    _database_errors(operation).inc()


@_never_raises
def count_standby_read(server: str) -> None:
    """``server`` is ``standby`` or ``primary``."""
    _REPORTS.labels(server).inc()


@_never_raises
def count_restart(process: str, reason: str, number: int = 1) -> None:
    """``reason`` is ``died``, or ``silent`` if the supervisor ended it."""
    _RESTARTS.labels(process, reason).inc(number)


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
def _database_errors(operation: str) -> Counter:
    return _DATABASE_ERRORS.labels(operation)
