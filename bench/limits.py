"""The cost that rate limits add to a request, and an idempotency key to a creation."""

from __future__ import annotations

import itertools
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from bench.harness import cpu
from bench.harness.client import link_body
from bench.harness.results import record
from bench.harness.stack import database
from limits.attempts import Limit, spend_attempt, uncount_attempts
from limits.rates import spend_request

ROUNDS = 7
SECONDS = 0.5
THREADS = 8


class Cost(NamedTuple):
    """Microseconds elapsed, and microseconds of processor time."""

    elapsed: float
    used: float


def main() -> None:
    with database("limits"):
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()

        call_command("migrate", verbosity=0)
        counting, round_trip = _statements()
        shares = _requests()
        record(
            "limits-request",
            f"{counting / round_trip:.1f} times the processor time of `SELECT 1`; "
            + ", ".join(f"{share:.0%} of {name}" for name, share in shares.items()),
        )


def _statements() -> tuple[float, float]:
    """Microseconds of processor time for counting a request, and for ``SELECT 1``."""

    def select_one() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    def miss() -> None:
        spend_attempt("guesses", Limit(60, 60))
        uncount_attempts(["guesses"])

    for _ in range(59):
        spend_attempt("guesses", Limit(60, 60))
    request = partial(spend_request, "somebody", 2**31 - 1)
    print(f"One statement, microseconds elapsed and of processor time (medians of {ROUNDS} rounds):")
    round_trip = _print("SELECT 1, a bare round trip", _spread(select_one))
    counting = _print("counting a request", _spread(request))
    _print("counting an unknown code after 59 others, and undoing it", _spread(miss))

    def many(_: int) -> int:
        done, started = 0, time.perf_counter()
        while time.perf_counter() - started < SECONDS:
            request()
            done += 1
        connection.close()
        return done

    with ThreadPoolExecutor(THREADS) as pool:
        rates = [sum(pool.map(many, range(THREADS))) / SECONDS for _ in range(ROUNDS)]
    print(f"{THREADS} threads, one account: {statistics.median(rates):.0f} requests/s counted")
    return counting, round_trip


def _requests() -> dict[str, float]:
    """The share of each kind of request that counting adds, in processor time."""

    from accounts.services import create_account
    from bench.harness.wsgi_call import Caller

    account = create_account(email=f"bench-{time.time_ns()}@example.com", plan="enterprise")
    caller, numbers = Caller(account.api_key), itertools.count()
    keyed = Caller(account.api_key)

    def create() -> None:
        assert caller.post("/api/urls", link_body(next(numbers)))[0] == 201

    def create_with_key() -> None:
        number = next(numbers)
        keyed.headers = {"HTTP_IDEMPOTENCY_KEY": f"key {number}"}
        assert keyed.post("/api/urls", link_body(number))[0] == 201

    def read() -> None:
        assert caller.get("/api/urls/domains/available")[0] == 200

    def unlimited(send: Callable[[], None]) -> Callable[[], None]:
        def without() -> None:
            limits, settings.RATE_LIMITS = settings.RATE_LIMITS, {"enterprise": 0}
            send()
            settings.RATE_LIMITS = limits

        return without

    shares = {}
    print("One request through the whole stack in this process, the same figures:")
    for name, send in (("reading the domains", read), ("creating a link", create)):
        # Interleaved, so that other load on the machine affects both alike.
        pairs = [(_each(send), _each(unlimited(send))) for _ in range(ROUNDS)]
        _print(f"{name}, counted", [with_limit for with_limit, _ in pairs])
        _print(f"{name}, not counted", [without for _, without in pairs])
        ratios = [with_limit.used / without.used for with_limit, without in pairs]
        print(f"  ratio of processor time {statistics.median(ratios):.2f}")
        shares[name] = statistics.median(ratios) - 1
    _print("creating a link with a key", _spread(create_with_key))
    return shares


def _spread(action: Callable[[], object]) -> list[Cost]:
    return [_each(action) for _ in range(ROUNDS)]


def _each(action: Callable[[], object]) -> Cost:
    action()
    done, used, started = 0, cpu.seconds(os.getpid()), time.perf_counter()
    while (elapsed := time.perf_counter() - started) < SECONDS:
        action()
        done += 1
    return Cost(elapsed / done * 1e6, (cpu.seconds(os.getpid()) - used) / done * 1e6)


def _print(name: str, costs: list[Cost]) -> float:
    """Print the medians. Return that of the processor time."""
    elapsed, used = (statistics.median(values) for values in zip(*costs, strict=True))
    print(f"  {name:<56} {elapsed:7.0f} {used:7.0f}", flush=True)
    return used


if __name__ == "__main__":
    main()
