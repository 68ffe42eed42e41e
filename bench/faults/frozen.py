"""Processes that freeze, inside a transaction or for good, and one that dies in a loop."""

from __future__ import annotations

import os
import signal
import time

import psycopg

from bench.faults.result import Result
from local_postgres import EmbeddedPostgres
from testing.service.frozen import audit, follow, frozen_in_a_transaction
from testing.service.hosts import started
from testing.service.running import Service, clicks_of, eventually

REPEATS, CLICKS = 3, 20
# The database gives a silent transaction 10 seconds; the machine may be busy.
SECONDS = 60
# The documented times until a frozen process is ended. Housekeeping, with eleven minutes, is left out.
BOUNDS = {
    "drain_clicks": 120,
    "gunicorn": 60,
    "follow_changes": 120,
    "recheck_domains": 120,
    "check_destinations": 120,
    "deliver_events": 120,
}
# For SIGKILL after SIGTERM, and for the start on a busy machine.
TOLERANCE = 30
# After this time, the host is not ready if its clicks are not counted.
UNREADY_AFTER = 60
RESTARTS = 'shortener_process_restarts_total{process="click drainer",reason="died"}'
MIN_RESTARTS = 3


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


def children_frozen() -> Result:
    """Stop the drainer, then the other processes, and never continue them."""
    problems, replaced = [], {}
    with started() as service:
        key = service.owner.api_key
        link = service.create_link(key)
        drainer, *others = BOUNDS
        pid, began = _freeze(service, drainer)
        follow(service, link, CLICKS)
        eventually(lambda: service.call("GET", "/readyz").status == 503)
        unready = time.monotonic() - began
        if unready > UNREADY_AFTER + TOLERANCE:
            problems.append(f"/readyz was 200 for {unready:.0f} s")
        frozen = {drainer: (pid, began), **{command: _freeze(service, command) for command in others}}
        while frozen:
            for command, (pid, began) in list(frozen.items()):
                if service.child(command) != pid:
                    replaced[command] = time.monotonic() - began
                    del frozen[command]
            time.sleep(0.1)
        problems += [
            f"{command} was replaced after {seconds:.0f} s"
            for command, seconds in replaced.items()
            if seconds > BOUNDS[command] + TOLERANCE
        ]
        eventually(service.is_healthy)
        follow(service, link, CLICKS)
        eventually(lambda: clicks_of(service, key, link) >= 2 * CLICKS)
        if (differences := audit(service)) != "0 differences.\n":
            problems.append(differences.strip())
    times = ", ".join(f"{command} after {seconds:.0f} s" for command, seconds in replaced.items())
    return Result(
        f"processes stopped for good: /readyz 503 after {unready:.0f} s, replaced {times}; {2 * CLICKS} clicks"
        " counted",
        problems,
    )


def _freeze(service: Service, command: str) -> tuple[int, float]:
    """Returns the process and the time."""
    pid = service.child(command)
    os.kill(pid, signal.SIGSTOP)
    return pid, time.monotonic()


def child_dies_in_a_loop() -> Result:
    problems = []
    with started() as service:
        key = service.owner.api_key
        link = service.create_link(key)
        url = EmbeddedPostgres(service.var_dir).url
        with psycopg.connect(url, autocommit=True) as database:
            database.execute("ALTER TABLE analytics_rawclick RENAME TO gone")
            began = time.monotonic()
            follow(service, link, CLICKS)
            eventually(lambda: service.call("GET", "/readyz").status == 503)
            unready = time.monotonic() - began
            follow(service, link, CLICKS)
            metrics = service.call_internal("/metrics").body.decode()
            database.execute("ALTER TABLE gone RENAME TO analytics_rawclick")
        if unready > UNREADY_AFTER + TOLERANCE:
            problems.append(f"/readyz was 200 for {unready:.0f} s")
        restarts = float(metrics.partition(f"{RESTARTS} ")[2].partition("\n")[0])
        if restarts < MIN_RESTARTS:
            problems.append(f"the metric has {restarts:.0f} restarts")
        eventually(service.is_ready)
        eventually(lambda: clicks_of(service, key, link) >= 2 * CLICKS)
        if (differences := audit(service)) != "0 differences.\n":
            problems.append(differences.strip())
    return Result(
        f"drainer that dies at every start: /readyz 503 after {unready:.0f} s and {restarts:.0f} restarts,"
        f" {2 * CLICKS} clicks counted afterwards",
        problems,
    )
