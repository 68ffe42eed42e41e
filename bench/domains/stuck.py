"""Redirects while verifications wait for a DNS server that receives queries and never replies."""

from __future__ import annotations

import itertools
import statistics
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg

from bench.harness.results import record
from bench.load import wrk
from bench.load.visits import Visits
from bench.load.wrk import LoadResult
from testing.service.running import Connection, Service

CLIENTS = 8
# Enough that no claim reaches its limit of verifications.
CLAIMS = 500
TARGET = 1.1

_CLAIMS = """
INSERT INTO domains_domain (public_id, owner_id, domain, host, status, token, failed_checks)
SELECT gen_random_uuid(), (SELECT min(id) FROM accounts_user), host, host, 'pending', md5(host), 0
FROM (SELECT 'stuck' || n || '.brand.example' AS host FROM generate_series(1, %s) n) claim
RETURNING public_id::text
"""


def run(
    service: Service, api_key: str, database: str, visits: Visits, *, pace: float, seconds: int, rounds: int
) -> None:
    with psycopg.connect(database) as connection:
        claims = itertools.cycle([claim for (claim,) in connection.execute(_CLAIMS, [CLAIMS]).fetchall()])
    idle: list[LoadResult] = []
    stuck: list[LoadResult] = []
    statuses: Counter[int] = Counter()

    def without() -> None:
        idle.append(wrk.load(service.port, visits, seconds=seconds, pace=pace))

    def beside() -> None:
        with _verifying(service.port, api_key, claims, statuses):
            stuck.append(wrk.load(service.port, visits, seconds=seconds, pace=pace))

    for number in range(rounds):
        for measure in (without, beside) if number % 2 else (beside, without):
            measure()
    print(
        f"\n{CLIENTS} clients whose verifications are stuck ({dict(statuses)}), {rounds} rounds; a redirect"
    )
    for name, responses in (("without them", idle), ("beside them", stuck)):
        p50, p99 = (
            statistics.median(times) for times in zip(*((a.p50, a.p99) for a in responses), strict=True)
        )
        errors = sum(a.errors for a in responses)
        slowest = [f"{a.p99:.2f}" for a in responses]
        print(
            f"  {name:13} p50 {p50:.2f}, p99 {p99:.2f} ms (medians; p99 by round: {', '.join(slowest)});"
            f" errors {errors}"
        )
    ratio = statistics.median(a.p99 for a in stuck) / statistics.median(a.p99 for a in idle)
    print(
        f"  p99 beside them {ratio:.2f} times; at most {TARGET}: {'yes' if ratio <= TARGET else 'NO'}",
        flush=True,
    )
    record("redirects-dns", f"p99 {ratio:.2f} times the p99 without them ({rounds} rounds)")


@contextmanager
def _verifying(port: int, api_key: str, claims: Iterator[str], statuses: Counter[int]) -> Iterator[None]:
    """Inside the block all clients wait for a response; on exit every client has received one."""
    stop, started = threading.Event(), threading.Barrier(CLIENTS + 1)

    def verify() -> None:
        with closing(Connection(port)) as client:
            client.connect()
            client.send_request("POST", f"/api/domains/{next(claims)}/verify", X_API_Key=api_key)
            started.wait()
            while True:
                response = client.receive()
                statuses[response.status] += 1
                # Honour Retry-After, but no longer than the measurement takes.
                if stop.wait(float(response.headers["Retry-After"] or 0)):
                    return
                client.send_request("POST", f"/api/domains/{next(claims)}/verify", X_API_Key=api_key)

    threads = [threading.Thread(target=verify) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    started.wait()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
