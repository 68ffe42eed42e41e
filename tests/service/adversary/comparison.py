"""The same connections to the service and to stock gunicorn: whatever is answered, both answer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from tests.service.adversary.conversation import AT_ONCE, converse, follows, is_served, settled
from tests.service.adversary.mutations import Attempt, Corpus
from tests.service.running import REPOSITORY, Service, eventually, free_port

# At once, in this process.
CLIENTS = 8
# What gunicorn answers to a request that it refuses depends on where it stopped reading first. So a difference is one
# that remains when both have time to read each piece before the next one comes.
_PAUSES = (AT_ONCE, 0.02, 0.2)
# Both services together would soon have used up what one account or address may ask for.
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
# Stock gunicorn has a thread wait for each client that is slow.
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
    """The same application on the same database and with the same settings, in gunicorn's own threaded worker; gives
    its port.
    """
    port = free_port()
    roles = {"WEB_CONCURRENCY": "1", "API_CONCURRENCY": "0"}
    own = {"PORT": str(port), "BASE_URL": service.url, "LOG_LEVEL": "ERROR"}
    command = [
        *(sys.executable, "-m", "gunicorn", "--config", "shortener_project/gunicorn_conf.py"),
        *(
            "--worker-class",
            "tests.service.adversary.stock.Stock",
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
    """Links that lead to their own code, so that an answer tells which request it is to."""
    codes = [f"adv{number:02}" for number in range(20)]
    for code in codes:
        service.create_link(api_key, originalUrl=f"https://example.com/{code}", customCode=code)
    service.create_link(api_key, customCode="advLocked", password="secret")
    return Corpus(codes[:4], "advLocked", codes[4:], api_key)


def differences(
    ours: int, stock: int, corpus: Corpus, attempts: Iterable[Attempt]
) -> Iterator[Difference | None]:
    """For each attempt; a newcomer is answered after it, or that is a difference, too."""

    def compare(attempt: Attempt) -> Difference | None:
        found = None
        for pause in _PAUSES:
            try:
                found = Difference(
                    attempt, *(settled(converse(port, attempt, pause)) for port in (ours, stock))
                )
            except TimeoutError as error:
                return Difference(attempt, repr(error).encode(), b"")
            if found.ours == found.stock:
                newcomer = corpus.controls[attempt.number % len(corpus.controls)]
                return (
                    None if follows(ours, newcomer) else Difference(attempt, b"no newcomer is answered", b"")
                )
        return found

    with ThreadPoolExecutor(CLIENTS) as pool:
        yield from pool.map(compare, attempts)


def _serves(process: subprocess.Popen[bytes], port: int) -> bool:
    assert process.poll() is None, "Stock gunicorn does not run."
    return is_served(port)
