"""python -m bench.fastlane.raw_requests [--count N] [--seed N]: raw requests that no client sends.

Each goes to the service and to stock gunicorn with the same application and database, first with separate processes
for redirects and API, then with one process for both; a part also goes through HAProxy. The exit status is 1 if a
response differs from stock gunicorn's, goes to another client or is missing.
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

from bench.harness.results import record
from testing.adversary.attempts import attempts
from testing.fastlane.comparison import UNLIMITED, corpus_of, differences, stock_gunicorn
from testing.fastlane.proxy import haproxy_before, misrouted_responses
from testing.service.hosts import make_folder
from testing.service.running import Service

COUNT = 30_000
# Every tenth request also goes through the proxy.
PROXIED = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # For helpers shared with the tests; the service itself has other settings.
        os.environ |= {"DJANGO_SETTINGS_MODULE": "shortener_project.settings", "VAR_DIR": folder}
        django.setup()
        print(f"The seed is {options.seed}.")
        # A different seed for each half.
        wrong = sum(_run(options.count // 2, options.seed + api, api) for api in (1, 0))
        record(
            "proof-requests",
            f"{options.count:,} requests, {options.count // PROXIED:,} also through HAProxy: {wrong} differences",
        )
        sys.exit(bool(wrong))


def _run(count: int, seed: int, api: int) -> int:
    service = Service(make_folder(), API_CONCURRENCY=str(api), LOG_LEVEL="ERROR", **UNLIMITED)
    try:
        service.start()
        corpus = corpus_of(service, service.owner.api_key)
        workers = service.workers()
        with stock_gunicorn(service) as stock:
            outcomes = differences(service.port, stock, corpus, attempts(corpus, seed, count))
            wrong = _report(f"API_CONCURRENCY={api}, compared", count, outcomes)
        with haproxy_before(service.port, Path(service.folder)) as proxy:
            proxied = count // PROXIED
            outcomes = misrouted_responses(proxy, corpus, attempts(corpus, seed, proxied))
            wrong += _report(f"API_CONCURRENCY={api}, through HAProxy", proxied, outcomes)
        if service.workers() != workers or "Traceback" in service.stderr:
            print("A worker exited or failed:", service.stderr[-3000:], sep="\n")
            wrong += 1
    finally:
        service.end()
    return wrong


def _report(name: str, count: int, problems: Iterable[object | None]) -> int:
    started, wrong = time.monotonic(), 0
    for problem in problems:
        if problem is not None:
            wrong += 1
            print(problem)
    seconds = time.monotonic() - started
    print(f"{name}: {count:,} connections in {seconds:.0f} s, {wrong} with a difference", flush=True)
    return wrong


if __name__ == "__main__":
    main()
