"""HAProxy in front of the service. It multiplexes the requests of all clients over a few connections."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from testing.adversary.attempts import Attempt, Corpus
from testing.adversary.conversation import NO_PAUSE, converse, followed_codes, is_redirected, is_served
from testing.fastlane.comparison import CLIENTS
from testing.service.running import eventually, free_port

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
    """Run HAProxy in front of the service. Yield its port."""
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


def misrouted_responses(port: int, corpus: Corpus, attempts: Iterable[Attempt]) -> Iterator[str | None]:
    """Yield for each attempt a description of a misrouted response, to this or a later client, or None."""
    shared = {*corpus.plain, corpus.password}

    def check(attempt: Attempt) -> str | None:
        code = corpus.controls[attempt.number % len(corpus.controls)]
        try:
            received = converse(port, attempt, NO_PAUSE)
            # A mutation may have produced a request for another valid code.
            requested = set(_CODES.findall(b"".join(attempt.pieces).decode("latin-1")))
            foreign = set(followed_codes(received)) - shared - {code} - requested
            if foreign or not is_redirected(port, code):
                return f"{attempt!r} got {received[:600]!r}"
        except TimeoutError as error:
            return f"{attempt!r}: {error!r}"
        return None

    with ThreadPoolExecutor(CLIENTS) as pool:
        yield from pool.map(check, attempts)
