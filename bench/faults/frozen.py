"""A process that stops inside a transaction, as in a paused virtual machine."""

from __future__ import annotations

import time

from bench.faults.result import Result
from testing.service.frozen import audit, follow, frozen_in_a_transaction
from testing.service.hosts import started
from testing.service.running import clicks_of, eventually

REPEATS, CLICKS = 3, 20
# The database gives a silent transaction 10 seconds; the machine may be busy.
SECONDS = 60


def drainer_frozen() -> Result:
    with started() as service:
        key, problems, longest = service.owner.api_key, [], 0.0
        counted, locked = service.create_link(key), service.create_link(key)
        # The first counted click creates the sums of the owner, which the drainer locks.
        follow(service, locked, 1)
        eventually(lambda: clicks_of(service, key, locked) == 1)
        body = {"originalUrl": "https://example.com/created-meanwhile"}
        for _ in range(REPEATS):
            with frozen_in_a_transaction(service, locked, ["drain_clicks"]):
                started_at = time.monotonic()
                eventually(lambda: service.call("POST", "/api/urls", body, X_API_Key=key).status == 201)
                longest = max(longest, time.monotonic() - started_at)
                follow(service, counted, CLICKS)
        expected = REPEATS * CLICKS
        eventually(lambda: clicks_of(service, key, counted) >= expected)
        if (clicks := clicks_of(service, key, counted)) != expected:
            problems.append(f"{clicks} clicks counted of {expected}")
        if (differences := audit(service)) != "0 differences.\n":
            problems.append(differences.strip())
    if longest > SECONDS:
        problems.append(f"no link could be created for {longest:.0f} s")
    return Result(
        f"drainer stopped in a transaction {REPEATS} times: links created again after at most {longest:.1f} s,"
        f" {expected} clicks counted",
        problems,
    )
