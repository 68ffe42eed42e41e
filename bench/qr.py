"""python -m bench.qr [--parallel N] [--seconds S]: what drawing QR codes costs, and what a storm of them leaves.

First the drawing alone, at 2,000 pixels. Then the whole service with one worker: N clients ask for such images and,
when they are told to, wait, while another follows a link. The same again with clients that never wait, and with
clients that ask for a page instead of images, to compare.
"""

from __future__ import annotations

import argparse
import http.client
import os
import statistics
import time
from collections import Counter
from contextlib import suppress
from io import BytesIO
from multiprocessing import Process, SimpleQueue
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import django
from PIL import Image

from bench.processes import tree
from bench.stack import database
from qrcodes.design import MAX_SIZE, Design, ImageFormat, Style
from qrcodes.rendering import render

AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
ROUNDS = 20
LIMIT_MS, LIMIT_MB = 300, 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parallel", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=15)
    given = parser.parse_args()
    _drawing()
    # Who measures is not to wait for a processor; elsewhere it would have one of its own. Only root may say so.
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    with database("qr"):
        os.environ |= {"DJANGO_SETTINGS_MODULE": "shortener_project.settings", "WEB_CONCURRENCY": "1"}
        django.setup()
        # After the settings are known, which name the database.
        from django.core.management import call_command  # noqa: PLC0415
        from django.db import connection  # noqa: PLC0415

        call_command("migrate", verbosity=0)
        code, images = _made()
        connection.close()
        _storm(code, images, given.parallel, given.seconds)


def _drawing() -> None:
    buffer = BytesIO()
    Image.effect_noise((400, 400), 80).convert("RGB").save(buffer, "PNG")
    print(f"{MAX_SIZE} pixels, processor time in ms (median of {ROUNDS}, highest), bytes")
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


def _made() -> tuple[str, list[str]]:
    """The code of a link, and the addresses of its images."""
    from bench.plain_links import plain_links  # noqa: PLC0415
    from links.models import Link  # noqa: PLC0415
    from qrcodes.representations import image_url  # noqa: PLC0415
    from qrcodes.services import create_qr_code  # noqa: PLC0415

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


def _storm(code: str, images: list[str], parallel: int, seconds: int) -> None:
    from bench.running import served  # noqa: PLC0415

    with served() as (port, parent):
        calm = _follow(port, code, seconds)
        processes = {pid: _memory(pid, "VmRSS") for pid in tree(parent)}
        storms = [
            _weathered(_Storm(port, asked, parallel, seconds, patient), code)
            for asked, patient in ((images, True), (images, False), (["/nothing"], False))
        ]
        growth = max(_memory(pid, "VmHWM") - memory for pid, memory in processes.items())
    print(
        f"\n{parallel} clients, one worker, {seconds} s each; a redirect's median and p99 in ms"
        " (times what it is with nobody else)"
    )
    _report("nobody else", Counter(), calm, calm)
    for name, storm in zip(("images, as told", "images, at once", "a page, at once"), storms, strict=True):
        _report(name, *storm, calm)
    over = "  OVER" if growth > LIMIT_MB else ""
    print(f"  growth of the process that grew most: {growth:.0f} MB{over}")


def _report(name: str, statuses: Counter[int], times: list[float], calm: list[float]) -> None:
    p99, calm_p99 = (statistics.quantiles(each, n=100)[98] for each in (times, calm))
    print(
        f"  {name:16} {statistics.median(times):6.1f} {p99:6.1f} ({p99 / calm_p99:4.1f} x) of {len(times):5};"
        f" {dict(statuses)}"
    )


class _Storm(NamedTuple):
    port: int
    paths: list[str]
    clients: int
    seconds: int
    patient: bool


def _weathered(storm: _Storm, code: str) -> tuple[Counter[int], list[float]]:
    answers: SimpleQueue[Counter[int]] = SimpleQueue()
    clients = Process(target=_clients, args=(storm, answers))
    clients.start()
    time.sleep(1)
    times = _follow(storm.port, code, storm.seconds - 2)
    statuses = answers.get()
    clients.join()
    return statuses, times


def _clients(storm: _Storm, answers: SimpleQueue[Counter[int]]) -> None:
    # Elsewhere they would have processors of their own.
    os.nice(19)
    counts: Counter[int] = Counter()
    until = time.monotonic() + storm.seconds

    def ask(number: int) -> None:
        client = http.client.HTTPConnection("127.0.0.1", storm.port, timeout=30)
        while time.monotonic() < until:
            client.request("GET", storm.paths[number % len(storm.paths)])
            answer = client.getresponse()
            answer.read()
            counts[answer.status] += 1
            if storm.patient and answer.status == 503:
                time.sleep(int(answer.headers["Retry-After"]))

    threads = [Thread(target=ask, args=(number,)) for number in range(storm.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers.put(counts)


def _follow(port: int, code: str, seconds: int) -> list[float]:
    """Milliseconds of redirects, each on a connection of its own and some time after the one before."""
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
    answer = client.getresponse()
    answer.read()
    client.close()
    return answer.status


def _memory(pid: int, name: str) -> float:
    """In MB."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(name)]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
