"""Sends the same bytes to the service and to stock gunicorn, and compares the responses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from testing.adversary.attempts import Attempt, Corpus
from testing.adversary.conversation import NO_PAUSE, converse, is_redirected, is_served, normalized
from testing.service.running import REPOSITORY, Service, eventually, free_port

# Concurrent clients in this process.
CLIENTS = 8
# gunicorn's response to an invalid request depends on where its first read ended. So a difference counts only if it
# persists when both servers have time to read each piece before the next one arrives, also on a busy machine. At most
# five pieces must arrive within 10 seconds, the time limit for a request head.
_PAUSES = (NO_PAUSE, 0.02, 0.2, 1.5)
# Both services together would soon exhaust the limits of an account or address.
UNLIMITED = dict.fromkeys(
    (
        "RATE_LIMIT_FREE",
        "RATE_LIMIT_PRO",
        "RATE_LIMIT_ENTERPRISE",
        "RATE_LIMIT_ANONYMOUS",
        "UNKNOWN_CODE_LIMIT",
    ),
    "0",
)
# Each slow client occupies a thread of stock gunicorn.
STOCK_THREADS = 32


class Difference(NamedTuple):
    attempt: Attempt
    ours: bytes
    stock: bytes

    def __str__(self) -> str:
        lines = [
            f"{self.attempt!r}",
            "service: " + repr(self.ours[:600]),
            "gunicorn: " + repr(self.stock[:600]),
        ]
        return "\n  ".join(lines)


@contextmanager
def stock_gunicorn(service: Service) -> Iterator[int]:
    """Run the application in gunicorn's own threaded worker, with the same database and settings. Yield its port."""
    port = free_port()
    roles = {"WEB_CONCURRENCY": "1", "API_CONCURRENCY": "0"}
    own = {
        "PORT": str(port),
        "INTERNAL_LISTEN": f"127.0.0.1:{free_port()}",
        "BASE_URL": f"http://localhost:{service.port}",
        "LOG_LEVEL": "ERROR",
        "FAST_LANE": "no",
    }
    command = [
        *(sys.executable, "-m", "gunicorn", "--config", "shortener_project/gunicorn_conf.py"),
        *(
            "--worker-class",
            "testing.fastlane.stock.Stock",
            "--threads",
            str(STOCK_THREADS),
            "shortener_project.wsgi",
        ),
    ]
    with (service.folder / "stock").open("wb") as output:
        process = subprocess.Popen(
            command, cwd=REPOSITORY, env=service.environment | roles | own, stdout=output, stderr=output
        )
    try:
        eventually(lambda: _serves(process, port))
        yield port
    finally:
        process.terminate()
        process.wait()


def corpus_of(service: Service, api_key: str) -> Corpus:
    """Create links whose destination contains their code, which identifies the request of a response."""
    codes = [f"adv{number:02}" for number in range(20)]
    for code in codes:
        service.create_link(api_key, originalUrl=f"https://example.com/{code}", customCode=code)
    service.create_link(api_key, customCode="advLocked", password="secret")
    return Corpus(codes[:4], "advLocked", codes[4:], api_key)


def differences(
    ours: int, stock: int, corpus: Corpus, attempts: Iterable[Attempt]
) -> Iterator[Difference | None]:
    """Yield the difference of each attempt, or None. It is a difference, too, if the next client gets no response."""

    def compare(attempt: Attempt) -> Difference | None:
        difference = None
        for pause in _PAUSES:
            try:
                difference = Difference(
                    attempt, *(normalized(converse(port, attempt, pause)) for port in (ours, stock))
                )
            except TimeoutError as error:
                return Difference(attempt, repr(error).encode(), b"")
            if difference.ours == difference.stock:
                control = corpus.controls[attempt.number % len(corpus.controls)]
                return (
                    None
                    if is_redirected(ours, control)
                    else Difference(attempt, b"the next client got no response", b"")
                )
        return difference

    with ThreadPoolExecutor(CLIENTS) as pool:
        yield from pool.map(compare, attempts)


def _serves(process: subprocess.Popen[bytes], port: int) -> bool:
    assert process.poll() is None, "Stock gunicorn does not run."
    return is_served(port)
