"""``/metrics`` for Prometheus: the totals of all processes of this host, and the state of its journal.

It also responds during a database outage, and on a full or read-only disk: a metric that cannot be had hides no other.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from django.conf import settings
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from analytics.counting.segments import lost_bytes
from analytics.journal.backlog import backlog, backlog_without_database
from analytics.journal.drops import dropped_clicks
from analytics.journal.writer import journal_error
from common.database import check_connection, read_first, seconds_ahead
from common.host import primary, state, vitals
from common.host.metrics import UNSTORED_DROPS, collect_counted, count_database_error
from common.http.client_address import is_internal_client
from shortener_project.running.schema import schema_problem

log = logging.getLogger(__name__)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Report the metrics to the operator's networks only: the number of redirects is confidential."""
    if not is_internal_client(request.META, settings.METRICS_ALLOWED_NETWORKS):
        raise Http404
    registry = CollectorRegistry()
    registry.register(_OfThisHost())
    response = HttpResponse(generate_latest(registry), CONTENT_TYPE_PLAIN_0_0_4)
    response["Cache-Control"] = "no-store"
    return response


class _OfThisHost(Collector):
    def collect(self) -> Iterator[Metric]:
        """Yield all groups of metrics. Each stands alone: whatever it raises, the others are served."""
        counted = _metrics_of(collect_counted)
        unstored = [metric for metric in counted if metric.name == UNSTORED_DROPS]
        yield from (metric for metric in counted if metric not in unstored)
        is_up = _is_database_up()
        yield GaugeMetricFamily("shortener_database_up", "Whether the database responds", value=is_up)
        groups = (_journal, _writable, _changes, _servers, _processes, partial(_drops, unstored))
        for group in (*groups, _losses, _clock, _schema) if is_up else groups:
            yield from _metrics_of(group)


def _metrics_of(group: Callable[[], Iterable[Metric]]) -> list[Metric]:
    try:
        return list(group())
    except Exception as error:
        if isinstance(error, Error):
            count_database_error("page")
        log.error("Metrics left out: %s", error)
        return []


def _is_database_up() -> bool:
    try:
        check_connection()
    except Error:
        count_database_error("page")
        return False
    return True


def _losses() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "shortener_journal_lost_bytes",
        "Clicks of all hosts that a restored database lacks and the journals no longer have, in bytes",
        value=read_first(lost_bytes),
    )


def _schema() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "shortener_database_schema_fits",
        "Whether the database has the migrations of this version, with the same texts",
        value=read_first(schema_problem) is None,
    )


def _clock() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "shortener_clock_ahead_seconds",
        "By how much this host's clock is ahead of the database's; negative: behind",
        value=read_first(seconds_ahead),
    )


def _journal() -> Iterator[Metric]:
    folder = settings.CLICKS_DIR
    try:
        state = read_first(lambda: backlog(folder))
    except Error:
        state = backlog_without_database(folder)
    waited = 0.0 if state.oldest is None else max(0.0, time.time() - state.oldest)
    yield GaugeMetricFamily(
        "shortener_journal_backlog_bytes",
        "Bytes in the journal that are not counted yet",
        value=state.waiting,
    )
    yield GaugeMetricFamily(
        "shortener_journal_oldest_seconds",
        "Age of the oldest uncounted record in the journal or, of any host, in the database",
        value=waited,
    )
    yield GaugeMetricFamily(
        "shortener_journal_damaged_segments",
        "Damaged segments set aside for inspection",
        value=state.damaged,
    )


def _writable() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "shortener_journal_writable",
        "Whether the journal takes clicks; otherwise the database does",
        value=journal_error() is None,
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
        "shortener_database_replicated",
        "Whether a synchronous standby has confirmed a commit within the last seconds; always 1 without"
        " REQUIRE_SYNCHRONOUS",
        value=primary.has_standby(),
    )
    yield GaugeMetricFamily(
        "shortener_reports_lag_seconds",
        "By how much the standby of REPORTS_DATABASE_URL lagged behind when it was last asked",
        value=primary.lag_seconds(),
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


def _drops(unstored: Iterable[Metric]) -> Iterator[Metric]:
    """The total of the file, and the clicks that were lost while it could not be written."""
    samples = [sample for metric in unstored for sample in metric.samples if sample.name.endswith("_total")]
    yield CounterMetricFamily(
        "shortener_clicks_dropped",
        "Answered clicks that neither journal nor database accepted, since the installation began. At most: an insert"
        " without a response may have succeeded",
        value=dropped_clicks() + sum(sample.value for sample in samples),
    )


def _processes() -> Iterator[Metric]:
    silent = GaugeMetricFamily(
        "shortener_process_silent_seconds",
        "For how long a process of the service has shown no sign of life",
        labels=["process"],
    )
    for name, signs in vitals.of_all():
        silent.add_metric([name], signs.silent_seconds)
    yield silent
