"""python -m bench.raw_requests [--count N] [--seed N]: requests that no client sends, by the tens of thousands.

Each goes to the service and to stock gunicorn with the same application and database, in one process that does
everything and in one for redirects with another for the API; then through HAProxy. The exit status is 1 if an answer
was another than stock gunicorn's, went to another client, or did not come.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import django

COUNT = 30_000
# Of these, through the proxy.
PROXIED = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # For what is shared with the tests; the service has settings of its own.
        os.environ |= {"DJANGO_SETTINGS_MODULE": "shortener_project.settings", "VAR_DIR": folder}
        django.setup()
        print(f"The seed is {given.seed}.")
        # The parts have requests of their own.
        wrong = [_run(given.count // 2, given.seed + api, api) for api in (1, 0)]
        sys.exit(any(wrong))


def _run(count: int, seed: int, api: int) -> int:
    from tests.service.adversary.comparison import UNLIMITED, corpus_of, differences, stock_gunicorn  # noqa: PLC0415
    from tests.service.adversary.mutations import attempts  # noqa: PLC0415
    from tests.service.adversary.proxy import confusions, haproxy_before  # noqa: PLC0415
    from tests.service.hosts import make_folder  # noqa: PLC0415
    from tests.service.running import Service  # noqa: PLC0415

    service = Service(make_folder(), API_CONCURRENCY=str(api), LOG_LEVEL="ERROR", **UNLIMITED)
    try:
        service.start()
        corpus = corpus_of(service, service.owner.api_key)
        workers = service.workers()
        with stock_gunicorn(service) as stock:
            found = differences(service.port, stock, corpus, attempts(corpus, seed, count))
            wrong = _told(f"API_CONCURRENCY={api}, compared", count, found)
        with haproxy_before(service.port, Path(service.folder)) as proxy:
            proxied = count // PROXIED
            found = confusions(proxy, corpus, attempts(corpus, seed, proxied))
            wrong += _told(f"API_CONCURRENCY={api}, through HAProxy", proxied, found)
        if service.workers() != workers or "Traceback" in service.stderr:
            print("A worker has ended, or has failed:", service.stderr[-3000:], sep="\n")
            wrong += 1
    finally:
        service.end()
    return wrong


def _told(name: str, count: int, found: Iterable[object | None]) -> int:
    started, wrong = time.monotonic(), 0
    for each in found:
        if each is not None:
            wrong += 1
            print(each)
    seconds = time.monotonic() - started
    print(f"{name}: {count:,} connections in {seconds:.0f} s, {wrong} with a difference", flush=True)
    return wrong


if __name__ == "__main__":
    main()
