"""What counting and logging add to a request, and what a scrape costs, in processor time."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
import timeit
from pathlib import Path

FOLDER = tempfile.mkdtemp(dir="/dev/shm")
os.environ |= {"PROMETHEUS_MULTIPROC_DIR": FOLDER, "DJANGO_SETTINGS_MODULE": "shortener_project.settings"}
ROUNDS, TIMES = 7, 20_000


def main() -> None:
    import django  # noqa: PLC0415 # after the environment

    django.setup()
    from django.http import HttpResponse  # noqa: PLC0415 # after the settings
    from django.test import RequestFactory  # noqa: PLC0415
    from django.urls import resolve  # noqa: PLC0415
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415

    from common import metrics  # noqa: PLC0415
    from shortener_project.api_requests import ApiRequestMiddleware  # noqa: PLC0415
    from shortener_project.logs import JSONFormatter  # noqa: PLC0415
    from shortener_project.metrics import CountedByAll  # noqa: PLC0415

    request = RequestFactory().get("/api/urls/01890000-0000-7000-8000-000000000000")
    request.resolver_match = resolve(request.path)
    response = HttpResponse()

    def answer(request: object) -> HttpResponse:
        return response

    observed = ApiRequestMiddleware(answer)
    bare = _microseconds(lambda: answer(request))
    logger = logging.getLogger("shortener_project.api_requests")
    with Path(os.devnull).open("w") as nowhere:
        handler = logging.StreamHandler(nowhere)
        handler.setFormatter(JSONFormatter())
        logger.handlers, logger.propagate = [handler], False
        print(f"a request of the API: {_microseconds(lambda: observed(request)) - bare:.1f} us")
        logger.setLevel(logging.WARNING)
        print(f"the same with LOG_LEVEL=WARNING: {_microseconds(lambda: observed(request)) - bare:.1f} us")

    def observe() -> None:
        began = time.perf_counter()
        metrics.observe_redirect("django", "302", time.perf_counter() - began)

    print(f"a request for a link that Django answers: {_microseconds(observe):.1f} us")
    counts = [100] * (len(metrics.REDIRECT_BUCKETS) + 1)

    def hand_over() -> None:
        metrics.count_redirects("fast", "302", 1600)
        metrics.observe_redirects("fast", counts, 0.05)

    print(f"a second's sums of the fast lane: {_microseconds(hand_over):.1f} us")

    for route in range(40):
        for status in (200, 400, 503):
            metrics.observe_api_request(f"/api/of/some/length/{route}", status, 0.01)
    for number in range(1, 8):
        for path in Path(FOLDER).glob("*_0.db"):
            shutil.copy(path, path.with_stem(path.stem.replace("_0", f"_{number}")))
    registry = CollectorRegistry()
    registry.register(CountedByAll())
    milliseconds = (
        min(timeit.repeat(lambda: generate_latest(registry), timer=time.process_time, number=5, repeat=3))
        / 5
        * 1000
    )
    print(f"a scrape of 8 processes with 40 routes each: {milliseconds:.0f} ms")


def _microseconds(function: object) -> float:
    return (
        min(timeit.repeat(function, timer=time.process_time, number=TIMES, repeat=ROUNDS)) / TIMES * 1_000_000
    )  # type: ignore[arg-type]


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(FOLDER)
