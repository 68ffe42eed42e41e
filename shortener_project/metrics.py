"""``/metrics`` for Prometheus: what all processes of this host have counted, and how its journal stands."""

from __future__ import annotations

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

from analytics.backlog import backlog, backlog_without_database
from analytics.drops import dropped_clicks
from common.client_address import comes_straight_from
from common.database import read_first
from common.metrics import collect_counted, count_database_error


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Only for the operator's own: how many links are followed is nobody else's business."""
    if not comes_straight_from(request.META, settings.METRICS_ALLOWED_NETWORKS):
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
    """Nobody counts these; they are looked up."""

    def collect(self) -> Iterator[Metric]:
        yield from _journal()
        yield CounterMetricFamily(
            "shortener_clicks_dropped",
            "Clicks that were answered and could be kept nowhere, since the installation began",
            value=dropped_clicks(),
        )


def _journal() -> Iterator[Metric]:
    folder = settings.CLICKS_DIR
    try:
        found, answers = read_first(lambda: backlog(folder)), 1
    except Error:
        count_database_error("page")
        found, answers = backlog_without_database(folder), 0
    waited = 0.0 if found.oldest is None else max(0.0, time.time() - found.oldest)
    yield GaugeMetricFamily("shortener_database_up", "Whether the database answers", value=answers)
    yield GaugeMetricFamily(
        "shortener_journal_backlog_bytes", "What is in the journal and not counted yet", value=found.waiting
    )
    yield GaugeMetricFamily(
        "shortener_journal_oldest_seconds",
        "How long its oldest record has waited to be counted",
        value=waited,
    )
    yield GaugeMetricFamily(
        "shortener_journal_damaged_segments",
        "Segments that were set aside for somebody to look at",
        value=found.damaged,
    )
