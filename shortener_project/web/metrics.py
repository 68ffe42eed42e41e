"""``/metrics`` for Prometheus: the totals of all processes of this host, and the state of its journal.

It also responds during a database outage and on a full disk, without the metrics that need them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

from django.conf import settings
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from analytics.counting.segments.losses import lost_bytes
from analytics.journal.backlog import Backlog, backlog, backlog_without_database
from analytics.journal.drops import dropped_clicks
from common.clock import seconds_ahead
from common.database import read_first
from common.host import primary, state
from common.host.internal_listener import is_internal_client
from common.host.metrics import collect_counted, count_database_error

log = logging.getLogger(__name__)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Only for the operator's networks: the number of redirects is confidential."""
    if not is_internal_client(request.META, settings.METRICS_ALLOWED_NETWORKS):
        raise Http404
    registry = CollectorRegistry()
    registry.register(CountedByAll())
    registry.register(_OfThisHost())
    response = HttpResponse(generate_latest(registry), CONTENT_TYPE_PLAIN_0_0_4)
    response["Cache-Control"] = "no-store"
    return response


class CountedByAll(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from collect_counted()


class _OfThisHost(Collector):
    """Values that are looked up instead of counted."""

    def collect(self) -> Iterator[Metric]:
        for group in (_journal_and_database, _changes, _servers, _drops):
            try:
                metrics_of_group = list(group())
            except OSError as error:
                log.error("Metrics left out: %s", error)
            else:
                yield from metrics_of_group


def _journal_and_database() -> Iterator[Metric]:
    folder = settings.CLICKS_DIR
    try:
        state = read_first(lambda: backlog(folder))
        # Both queries come before the first metric, so that is_up holds for all.
        of_database, is_up = [_losses(lost_bytes()), _clock(seconds_ahead())], 1
    except Error:
        count_database_error("page")
        state, of_database, is_up = backlog_without_database(folder), [], 0
    yield GaugeMetricFamily("shortener_database_up", "Whether the database responds", value=is_up)
    yield from of_database
    yield from _journal(state)


def _losses(size: int) -> Metric:
    return GaugeMetricFamily(
        "shortener_journal_lost_bytes",
        "Clicks of all hosts that a restored database lacks and the journals no longer have, in bytes",
        value=size,
    )


def _clock(ahead: float) -> Metric:
    return GaugeMetricFamily(
        "shortener_clock_ahead_seconds",
        "By how much this host's clock is ahead of the database's; negative: behind",
        value=ahead,
    )


def _journal(state: Backlog) -> Iterator[Metric]:
    waited = 0.0 if state.oldest is None else max(0.0, time.time() - state.oldest)
    yield GaugeMetricFamily(
        "shortener_journal_backlog_bytes",
        "Bytes in the journal that are not counted yet",
        value=state.waiting,
    )
    yield GaugeMetricFamily(
        "shortener_journal_oldest_seconds",
        "Age of the oldest uncounted record in the journal",
        value=waited,
    )
    yield GaugeMetricFamily(
        "shortener_journal_damaged_segments",
        "Damaged segments set aside for inspection",
        value=state.damaged,
    )


def _changes() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "shortener_changes_unheard_seconds",
        "How long ago this host last heard from the database about changes of links",
        value=state.unheard_seconds(),
    )


def _servers() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "shortener_database_writable",
        "Whether the database has committed for this host within the last seconds",
        value=primary.is_committing(),
    )
    yield GaugeMetricFamily(
        "shortener_database_former_primary",
        "Whether a server of an earlier timeline accepts connections, which this host refuses",
        value=primary.has_former(),
    )
    yield GaugeMetricFamily(
        "shortener_database_gone_back",
        "Whether only a server of an earlier timeline responds: acknowledged writes were discarded",
        value=primary.has_gone_back(),
    )


def _drops() -> Iterator[Metric]:
    yield CounterMetricFamily(
        "shortener_clicks_dropped",
        "Answered clicks that could not be stored, since the installation began",
        value=dropped_clicks(),
    )
