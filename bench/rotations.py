"""python -m bench.rotations [--rounds N] [--calls N]: checks that a replaced API key is invalid everywhere.

Two hosts on one database, each with four workers. After each rotation, all workers of both hosts receive calls with
the old key at the same time, and one call each with the new key. Every call with the old key must be rejected.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import ExitStack

from bench.harness.results import record
from bench.harness.running import installation
from bench.harness.stack import service_folder
from local_postgres import EmbeddedPostgres
from testing.service.clients.rotations import WORKERS, rotations
from testing.service.hosts import one_to_each_worker


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=1000, help="calls with the old key in each round")
    options = parser.parse_args()
    with service_folder() as folder, ExitStack() as stack:
        concurrency = {
            "WEB_CONCURRENCY": str(WORKERS),
            "API_CONCURRENCY": "0",
            "SECRET_KEY": "shortener-" + "s" * 50,
        }
        here = stack.enter_context(installation(folder, **concurrency))
        url = EmbeddedPostgres(here.var_dir).url
        (folder / "other/service").mkdir(parents=True)
        there = stack.enter_context(installation(folder / "other", DATABASE_URL=url, **concurrency))
        connections = [
            connection for service in (here, there) for connection in one_to_each_worker(service, stack)
        ]
        credentials = {"email": here.owner.email, "password": here.owner.password}
        token = here.call("POST", "/api/auth/login", credentials).json()["token"]
        started = time.monotonic()
        counts = rotations(connections, token, [options.calls] * options.rounds)
        seconds = time.monotonic() - started
    calls = sum(counts.old.values())
    print(
        f"{options.rounds} rotations, {WORKERS} workers on each of two hosts: {counts.old[401]:,} of {calls:,} calls "
        f"with a replaced key returned 401; {counts.new[200]:,} of {sum(counts.new.values()):,} calls with the new "
        f"key returned 200; {calls / seconds:,.0f} calls/s"
    )
    record("proof-keys", f"{calls - counts.old[401]:,} of {calls:,} accepted ({options.rounds} rotations)")
    sys.exit(counts.old.keys() != {401} or counts.new.keys() != {200})


if __name__ == "__main__":
    main()
