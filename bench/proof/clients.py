"""Visitors of a running service, who note what they sent and what was answered, whatever happens to it."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPException

from bench.proof.verdict import ADDRESS, Log
from tests.service.running import Connection

VISITORS = 6
PAUSE_SECONDS = 0.004


@contextmanager
def visitors(port: int, links: Mapping[str, int]) -> Iterator[Log]:
    """Inside, they follow these links (codes and numbers). Half of them keep their connections."""
    log = Log()
    enough = threading.Event()
    threads = [
        threading.Thread(target=_visit, args=(port, links, log, enough, number % 2 == 0), daemon=True)
        for number in range(VISITORS)
    ]
    for thread in threads:
        thread.start()
    try:
        yield log
    finally:
        enough.set()
        for thread in threads:
            thread.join()


def _visit(port: int, links: Mapping[str, int], log: Log, enough: threading.Event, keep: bool) -> None:
    codes = list(links)
    with closing(Connection(port)) as connection:
        while not enough.is_set():
            code, identity = random.choice(codes), str(uuid.uuid4())
            log.sent[identity] = links[code]
            try:
                answer = connection.ask("GET", f"/{code}", Referer=ADDRESS + identity)
            except (OSError, HTTPException):
                log.errors += 1
                connection.close()
                time.sleep(0.02)
                continue
            match answer.status:
                case 302:
                    log.answered.add(identity)
                case 410:
                    log.refused.add(identity)
                case 503 if answer.headers["Retry-After"]:
                    log.errors += 1
                case status:
                    log.problems.append(f"answered with {status}")
            if not keep:
                connection.close()
            time.sleep(PAUSE_SECONDS)
