"""HAProxy in front of the service, which sends the requests of all clients over the same few connections."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.service.adversary.comparison import CLIENTS
from tests.service.adversary.conversation import AT_ONCE, converse, follows, is_served, led_to
from tests.service.adversary.mutations import Attempt, Corpus
from tests.service.running import eventually, free_port

_CODES = re.compile(r"\badv[0-9]+\b")
_CONFIGURATION = """
defaults
  mode http
  timeout connect 5s
  timeout client 20s
  timeout server 20s
frontend clients
  bind 127.0.0.1:{port}
  default_backend service
backend service
  http-reuse always
  retry-on conn-failure empty-response
  server service 127.0.0.1:{service}
"""


@contextmanager
def haproxy_before(service: int, folder: Path, program: str = "haproxy") -> Iterator[int]:
    """Gives its port."""
    port = free_port()
    (folder / "haproxy.cfg").write_text(_CONFIGURATION.format(port=port, service=service))
    command = [program, "-db", "-q", "-f", str(folder / "haproxy.cfg")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: is_served(port))
        yield port
    finally:
        process.kill()
        process.wait()


def confusions(port: int, corpus: Corpus, attempts: Iterable[Attempt]) -> Iterator[str | None]:
    """For each attempt, what went to the wrong client, if anything did, its own or one that comes after it."""
    shared = {*corpus.plain, corpus.password}

    def confusion(attempt: Attempt) -> str | None:
        code = corpus.controls[attempt.number % len(corpus.controls)]
        try:
            heard = converse(port, attempt, AT_ONCE)
            # What was mutated may have become a request for a code of somebody else's.
            asked = set(_CODES.findall(b"".join(attempt.pieces).decode("latin-1")))
            strange = set(led_to(heard)) - shared - {code} - asked
            if strange or not follows(port, code):
                return f"{attempt!r} was answered {heard[:600]!r}"
        except TimeoutError as error:
            return f"{attempt!r}: {error!r}"
        return None

    with ThreadPoolExecutor(CLIENTS) as pool:
        yield from pool.map(confusion, attempts)
