"""python -m bench.rotations [--rounds N] [--calls N]: whether a key that was replaced opens anything any more.

Two hosts on one database, each with four workers. Once the answer with the new key is there, all workers of both are
asked with the old one at the same time, again and again, and each with the new one. The old key may let nobody in.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from bench.stack import home

if TYPE_CHECKING:
    from tests.service.running import Connection

WORKERS = 4
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)


class Asked(NamedTuple):
    """How often each status was answered."""

    old: Counter[int]
    new: Counter[int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=1000, help="with the old key, in each round")
    given = parser.parse_args()
    with home() as folder, ExitStack() as stack:
        # They read the settings.
        from bench.running import installation  # noqa: PLC0415
        from shortener_project.embedded_postgres import EmbeddedPostgres  # noqa: PLC0415
        from tests.service.hosts import one_to_each_worker  # noqa: PLC0415

        concurrency = {"WEB_CONCURRENCY": str(WORKERS), "API_CONCURRENCY": "0", "SECRET_KEY": "s" * 50}
        here = stack.enter_context(installation(folder, **concurrency))
        url = EmbeddedPostgres(here.var_dir).url
        (folder / "other/service").mkdir(parents=True)
        there = stack.enter_context(installation(folder / "other", DATABASE_URL=url, **concurrency))
        doors = [door for service in (here, there) for door in one_to_each_worker(service, stack)]
        credentials = {"email": here.owner.email, "password": here.owner.password}
        token = here.ask("POST", "/api/auth/login", credentials).json()["token"]
        started = time.monotonic()
        asked = rotations(doors, token, [given.calls] * given.rounds)
        seconds = time.monotonic() - started
    calls = sum(asked.old.values())
    print(
        f"{given.rounds} rotations, {WORKERS} workers on each of two hosts: of {calls:,} calls with a key that was "
        f"replaced {asked.old[401]:,} were answered 401; of {sum(asked.new.values()):,} with the new one "
        f"{asked.new[200]:,} were answered 200; {calls / seconds:,.0f} calls/s"
    )
    sys.exit(asked.old.keys() != {401} or asked.new.keys() != {200})


def rotations(doors: Sequence[Connection], token: str, calls: Sequence[int]) -> Asked:
    """One for each of ``calls``: that many with the old key, spread over all doors, at least one for each."""
    asked = Asked(Counter(), Counter())
    old = _rotate(doors[0], token)
    for number, count in enumerate(calls):
        new = _rotate(doors[number % len(doors)], token)
        for _ in range(-(-count // len(doors))):
            asked.old.update(_at_once(doors, old))
        asked.new.update(_at_once(doors, new))
        old = new
    return asked


def _rotate(door: Connection, token: str) -> str:
    answer = door.ask("POST", "/api/auth/regenerate-api-key", Authorization=f"Bearer {token}")
    key: str = answer.json()["apiKey"]
    return key


def _at_once(doors: Sequence[Connection], key: str) -> list[int]:
    # By hand: a client of the standard library takes longer to ask than the service to answer.
    request = (
        "GET /api/urls/domains/available HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl/8.5.0\r\n"
        f"X-API-Key: {key}\r\n\r\n"
    )
    for door in doors:
        door.sock.sendall(request.encode())
    return [_status(door) for door in doors]


def _status(door: Connection) -> int:
    """Of one whole answer."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(door)
    head, _, body = received.partition(b"\r\n\r\n")
    found = _LENGTH.search(head + b"\r\n")
    missing = int(found[1] if found else 0) - len(body)
    while missing > 0:
        missing -= len(_more(door))
    return int(head.split(b" ", 2)[1])


def _more(door: Connection) -> bytes:
    chunk: bytes = door.sock.recv(65_536)
    if not chunk:
        raise ConnectionError("The service has closed a connection.")
    return chunk


if __name__ == "__main__":
    main()
