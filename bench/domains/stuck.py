"""Redirects while verifications wait for a DNS server that reads and says nothing."""

from __future__ import annotations

import itertools
import statistics
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg

from bench import wrk
from bench.visits import Visits
from bench.wrk import Answered
from tests.service.running import Connection, Service

CLIENTS = 8
# So many that none is asked about more often than it may be.
CLAIMS = 500
WANTED = 1.1

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
    idle: list[Answered] = []
    stuck: list[Answered] = []
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
    for name, answers in (("without them", idle), ("beside them", stuck)):
        p50, p99 = (
            statistics.median(times) for times in zip(*((a.p50, a.p99) for a in answers), strict=True)
        )
        errors = sum(a.errors for a in answers)
        slowest = [f"{a.p99:.2f}" for a in answers]
        print(
            f"  {name:13} p50 {p50:.2f}, p99 {p99:.2f} ms (medians; p99 by round: {', '.join(slowest)});"
            f" errors {errors}"
        )
    ratio = statistics.median(a.p99 for a in stuck) / statistics.median(a.p99 for a in idle)
    print(
        f"  p99 beside them {ratio:.2f} times; at most {WANTED}: {'yes' if ratio <= WANTED else 'NO'}",
        flush=True,
    )


@contextmanager
def _verifying(port: int, api_key: str, claims: Iterator[str], statuses: Counter[int]) -> Iterator[None]:
    """Inside, all the clients wait for an answer; afterwards, everybody has been given one."""
    enough, started = threading.Event(), threading.Barrier(CLIENTS + 1)

    def verify() -> None:
        with closing(Connection(port)) as client:
            client.connect()
            client.say("POST", f"/api/domains/{next(claims)}/verify", X_API_Key=api_key)
            started.wait()
            while True:
                answer = client.hear()
                statuses[answer.status] += 1
                # Who is told to come back waits as told, but for no longer than this takes.
                if enough.wait(float(answer.headers["Retry-After"] or 0)):
                    return
                client.say("POST", f"/api/domains/{next(claims)}/verify", X_API_Key=api_key)

    threads = [threading.Thread(target=verify) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    started.wait()
    try:
        yield
    finally:
        enough.set()
        for thread in threads:
            thread.join()
