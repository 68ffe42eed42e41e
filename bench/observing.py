"""The processor time that metrics and logging add to a request, and the processor time of a scrape."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
import timeit
from collections.abc import Iterator
from pathlib import Path

from bench.harness.results import record

FOLDER = tempfile.mkdtemp(dir="/dev/shm")
os.environ |= {"PROMETHEUS_MULTIPROC_DIR": FOLDER, "DJANGO_SETTINGS_MODULE": "shortener_project.settings"}
ROUNDS, TIMES = 7, 20_000


def main() -> None:
    import django  # reads the environment

    django.setup()
    from django.http import HttpResponse  # reads the settings
    from django.test import RequestFactory
    from django.urls import resolve
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.metrics_core import Metric
    from prometheus_client.registry import Collector

    from common.host import metrics
    from shortener_project.running.logs import JSONFormatter
    from shortener_project.web.middleware import ApiRequestMiddleware, RequestIdMiddleware

    request = RequestFactory().get("/api/urls/01890000-0000-7000-8000-000000000000")
    request.resolver_match = resolve(request.path)
    response = HttpResponse()

    def respond(request: object) -> HttpResponse:
        return response

    observed = RequestIdMiddleware(ApiRequestMiddleware(respond))
    baseline = _microseconds(lambda: respond(request))
    logger = logging.getLogger("shortener_project.web.middleware")
    with Path(os.devnull).open("w") as null:
        handler = logging.StreamHandler(null)
        handler.setFormatter(JSONFormatter())
        logger.handlers, logger.propagate = [handler], False
        api = _microseconds(lambda: observed(request)) - baseline
        print(f"an API request: {api:.1f} us")
        logger.setLevel(logging.WARNING)
        print(
            f"the same with LOG_LEVEL=WARNING: {_microseconds(lambda: observed(request)) - baseline:.1f} us"
        )

    def observe() -> None:
        began = time.perf_counter()
        metrics.observe_redirect("django", "302", time.perf_counter() - began)

    link = _microseconds(observe)
    print(f"a link request that Django serves: {link:.1f} us")
    counts = [100] * (len(metrics.REDIRECT_BUCKETS) + 1)

    def flush() -> None:
        metrics.count_redirects("fast", "302", 1600)
        metrics.observe_redirects("fast", counts, 0.05)

    print(f"one second's sums of the fast lane: {_microseconds(flush):.1f} us")

    for route in range(40):
        for status in (200, 400, 503):
            metrics.observe_api_request(f"/api/of/some/length/{route}", status, 0.01)
    for number in range(1, 8):
        for path in Path(FOLDER).glob("*_0.db"):
            shutil.copy(path, path.with_stem(path.stem.replace("_0", f"_{number}")))

    class CountedByAll(Collector):
        def collect(self) -> Iterator[Metric]:
            yield from metrics.collect_counted()

    registry = CollectorRegistry()
    registry.register(CountedByAll())
    milliseconds = (
        min(timeit.repeat(lambda: generate_latest(registry), timer=time.process_time, number=5, repeat=3))
        / 5
        * 1000
    )
    print(f"a scrape of 8 processes with 40 routes each: {milliseconds:.0f} ms")
    record(
        "redirects-observing",
        f"{api:.0f} us for an API request, {link:.0f} us for a link request that Django serves; "
        f"a scrape of 8 processes takes {milliseconds:.0f} ms",
    )


def _microseconds(function: object) -> float:
    return (
        min(timeit.repeat(function, timer=time.process_time, number=TIMES, repeat=ROUNDS)) / TIMES * 1_000_000
    )


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(FOLDER)
