"""Visitors of a running service. They log each request and response independently of the service."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPException

from testing.proof.verdict import ADDRESS, Log
from testing.service.running import Connection

VISITORS = 6
PAUSE_SECONDS = 0.004


@contextmanager
def visitors(port: int, links: Mapping[str, int]) -> Iterator[Log]:
    """Inside the context, visitors follow these links (ids by code). Half of them use keep-alive connections."""
    log = Log()
    stop = threading.Event()
    threads = [
        threading.Thread(target=_visit, args=(port, links, log, stop, number % 2 == 0), daemon=True)
        for number in range(VISITORS)
    ]
    for thread in threads:
        thread.start()
    try:
        yield log
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _visit(port: int, links: Mapping[str, int], log: Log, stop: threading.Event, keep: bool) -> None:
    codes = list(links)
    with closing(Connection(port)) as connection:
        while not stop.is_set():
            code, identity = random.choice(codes), str(uuid.uuid4())
            log.sent[identity] = links[code]
            try:
                response = connection.call("GET", f"/{code}", Referer=ADDRESS + identity)
            except (OSError, HTTPException):
                log.errors += 1
                connection.close()
                time.sleep(0.02)
                continue
            match response.status:
                case 302:
                    log.redirected.add(identity)
                case 410:
                    log.refused.add(identity)
                case 503 if response.headers["Retry-After"]:
                    log.errors += 1
                case status:
                    log.problems.append(f"unexpected status {status}")
            if not keep:
                connection.close()
            time.sleep(PAUSE_SECONDS)
