"""python -m bench.qr [--parallel N] [--seconds S]: the cost of drawing QR codes, and redirects under a flood of them.

First the drawing alone, at 2,000 pixels. Then the whole service with one worker: N clients request such images and
honour Retry-After while another client follows a link. For comparison, the same with clients that ignore Retry-After
and with clients that request a page instead of images.
"""

from __future__ import annotations

import argparse
import http.client
import os
import statistics
import time
from collections import Counter, defaultdict
from contextlib import suppress
from io import BytesIO
from multiprocessing import Process, SimpleQueue
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import django
from django.core.management import call_command
from django.db import connection
from PIL import Image

from bench.harness.processes import tree
from bench.harness.results import record
from bench.harness.running import served
from bench.harness.stack import database
from qrcodes.design import MAX_SIZE, Design, ImageFormat, Style
from qrcodes.drawing import render

AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
ROUNDS = 20
LIMIT_MS, LIMIT_MB = 300, 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parallel", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=15)
    options = parser.parse_args()
    _drawing()
    # The measuring process must not wait for a processor; a real client has its own. Only root can set this.
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    with database("qr"):
        os.environ |= {"DJANGO_SETTINGS_MODULE": "shortener_project.settings", "WEB_CONCURRENCY": "1"}
        django.setup()

        call_command("migrate", verbosity=0)
        code, images = _create_images()
        connection.close()
        _under_load(code, images, options.parallel, options.seconds)


def _drawing() -> None:
    buffer = BytesIO()
    Image.effect_noise((400, 400), 80).convert("RGB").save(buffer, "PNG")
    print(f"{MAX_SIZE} pixels, processor time in ms (median of {ROUNDS}, highest), bytes")
    medians: dict[str, list[float]] = defaultdict(list)
    for image_format in ImageFormat.values:
        for style in Style.values:
            for logo in (None, buffer.getvalue()):
                design = Design(size=MAX_SIZE, format=image_format, style=style, level="H", logo=logo)
                times = []
                for _ in range(ROUNDS):
                    started = time.thread_time()
                    picture = render("https://go.example.com/db8xua6?qr=1", design)
                    times.append((time.thread_time() - started) * 1000)
                name = f"{image_format} {style}{' with a logo' if logo else ''}"
                over = "  OVER" if max(times) > LIMIT_MS else ""
                print(
                    f"  {name:28} {statistics.median(times):6.1f} {max(times):6.1f} {len(picture):>10,}{over}"
                )
                kind = f"{image_format.upper()}{' with a logo' if logo else ''}"
                medians[kind].append(statistics.median(times))
    figures = (f"{kind} {min(times):.0f} to {max(times):.0f} ms" for kind, times in medians.items())
    record("qr-drawing", f"{', '.join(figures)} (medians of {ROUNDS})")


def _create_images() -> tuple[str, list[str]]:
    """The code of a link, and the paths of its images."""
    from bench.load.plain_links import plain_links
    from links.models import Link
    from qrcodes.representations import image_url
    from qrcodes.services import create_qr_code

    link = Link.objects.select_related("owner").get(pk=plain_links(1)[0])
    codes = [
        create_qr_code(
            owner=link.owner,
            url_id=str(link.public_id),
            design=Design(size=MAX_SIZE, format=image_format, style=style),
        )
        for image_format in ImageFormat.values
        for style in Style.values
    ]
    return link.short_code, ["/qr/" + image_url(code).rpartition("/")[2] for code in codes]


def _under_load(code: str, images: list[str], parallel: int, seconds: int) -> None:
    with served() as (port, parent):
        idle = _follow(port, code, seconds)
        processes = {pid: _memory(pid, "VmRSS") for pid in tree(parent)}
        image_loads = [
            _measure_beside(_ImageLoad(port, paths, parallel, seconds, honours_retry_after), code)
            for paths, honours_retry_after in ((images, True), (images, False), (["/nothing"], False))
        ]
        growth = max(_memory(pid, "VmHWM") - memory for pid, memory in processes.items())
    print(
        f"\n{parallel} clients, one worker, {seconds} s each; a redirect's median and p99 in ms"
        " (relative to redirects alone)"
    )
    _report("redirects alone", Counter(), idle, idle)
    names = ("images, with Retry-After", "images, at once", "a page, at once")
    ratios = [_report(name, *image_load, idle) for name, image_load in zip(names, image_loads, strict=True)]
    over = "  OVER" if growth > LIMIT_MB else ""
    print(f"  growth of the process that grew most: {growth:.0f} MB{over}")
    figure = f"p99 {ratios[0]:.1f} times the p99 without them; a process grew by at most {growth:.0f} MB"
    record("redirects-qr", f"{figure} ({parallel} clients)")


def _report(name: str, statuses: Counter[int], times: list[float], idle: list[float]) -> float:
    """The p99 relative to that of redirects alone."""
    p99, calm_p99 = (statistics.quantiles(latencies, n=100)[98] for latencies in (times, idle))
    print(
        f"  {name:24} {statistics.median(times):6.1f} {p99:6.1f} ({p99 / calm_p99:4.1f} x) of {len(times):5};"
        f" {dict(statuses)}"
    )
    return p99 / calm_p99


class _ImageLoad(NamedTuple):
    port: int
    paths: list[str]
    clients: int
    seconds: int
    honours_retry_after: bool


def _measure_beside(image_load: _ImageLoad, code: str) -> tuple[Counter[int], list[float]]:
    responses: SimpleQueue[Counter[int]] = SimpleQueue()
    clients = Process(target=_clients, args=(image_load, responses))
    clients.start()
    time.sleep(1)
    times = _follow(image_load.port, code, image_load.seconds - 2)
    statuses = responses.get()
    clients.join()
    return statuses, times


def _clients(image_load: _ImageLoad, responses: SimpleQueue[Counter[int]]) -> None:
    # Real clients have processors of their own.
    os.nice(19)
    counts: Counter[int] = Counter()
    until = time.monotonic() + image_load.seconds

    def request(number: int) -> None:
        client = http.client.HTTPConnection("127.0.0.1", image_load.port, timeout=30)
        while time.monotonic() < until:
            client.request("GET", image_load.paths[number % len(image_load.paths)])
            response = client.getresponse()
            response.read()
            counts[response.status] += 1
            if image_load.honours_retry_after and response.status == 503:
                time.sleep(int(response.headers["Retry-After"]))

    threads = [Thread(target=request, args=(number,)) for number in range(image_load.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    responses.put(counts)


def _follow(port: int, code: str, seconds: int) -> list[float]:
    """Milliseconds of redirects, each on a new connection, with a pause in between."""
    times, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        started = time.perf_counter()
        status = _get(port, f"/{code}")
        times.append((time.perf_counter() - started) * 1000)
        assert status == 302, status
        time.sleep(0.01)
    return times


def _get(port: int, path: str) -> int:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    client.request("GET", path, headers={"User-Agent": AGENT})
    response = client.getresponse()
    response.read()
    client.close()
    return response.status


def _memory(pid: int, name: str) -> float:
    """A line of the process's status, in MB."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(name)]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
