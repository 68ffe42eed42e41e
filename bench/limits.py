"""What the limits add to a request, and a key to a creation."""

from __future__ import annotations

import itertools
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import django

from bench.stack import database

ROUNDS = 7
SECONDS = 0.5
THREADS = 8


class Cost(NamedTuple):
    """Microseconds on the wall, and of processor time."""

    passed: float
    used: float


def main() -> None:
    with database("limits"):
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()
        # After the settings are known, which name the database.
        from django.core.management import call_command  # noqa: PLC0415

        call_command("migrate", verbosity=0)
        _statements()
        _requests()


def _statements() -> None:
    from django.db import connection  # noqa: PLC0415

    from accounts.limits import Limit, forgive_attempts, spend_attempt  # noqa: PLC0415
    from accounts.rates import spend_request  # noqa: PLC0415

    def nothing() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    def miss() -> None:
        spend_attempt("guesses", Limit(60, 60))
        forgive_attempts(["guesses"])

    for _ in range(59):
        spend_attempt("guesses", Limit(60, 60))
    request = lambda: spend_request("somebody", 2**31 - 1)  # noqa: E731
    print(f"One statement, microseconds on the wall and of processor time (medians of {ROUNDS} rounds):")
    _print("SELECT 1, a bare round trip", _spread(nothing))
    _print("counting a request", _spread(request))
    _print("counting a miss, 59 before it, and taking it back", _spread(miss))

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


def _requests() -> None:
    from django.conf import settings  # noqa: PLC0415

    from accounts.services import create_account  # noqa: PLC0415
    from bench.client import link_body  # noqa: PLC0415
    from bench.wsgi_call import Caller  # noqa: PLC0415

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

    def unlimited(ask: Callable[[], None]) -> Callable[[], None]:
        def without() -> None:
            limits, settings.RATE_LIMITS = settings.RATE_LIMITS, {"enterprise": 0}
            ask()
            settings.RATE_LIMITS = limits

        return without

    print("One request through the whole stack in this process, the same:")
    for name, ask in (("reading the domains", read), ("creating a link", create)):
        # Interleaved, so that both see the same machine.
        pairs = [(_each(ask), _each(unlimited(ask))) for _ in range(ROUNDS)]
        _print(f"{name}, counted", [with_limit for with_limit, _ in pairs])
        _print(f"{name}, not counted", [without for _, without in pairs])
        ratios = [with_limit.used / without.used for with_limit, without in pairs]
        print(f"  ratio of processor time {statistics.median(ratios):.2f}")
    _print("creating a link with a key", _spread(create_with_key))


def _spread(ask: Callable[[], object]) -> list[Cost]:
    return [_each(ask) for _ in range(ROUNDS)]


def _each(ask: Callable[[], object]) -> Cost:
    from bench import cpu  # noqa: PLC0415

    ask()
    done, used, started = 0, cpu.seconds(os.getpid()), time.perf_counter()
    while (passed := time.perf_counter() - started) < SECONDS:
        ask()
        done += 1
    return Cost(passed / done * 1e6, (cpu.seconds(os.getpid()) - used) / done * 1e6)


def _print(name: str, each: list[Cost]) -> None:
    passed, used = (statistics.median(values) for values in zip(*each, strict=True))
    print(f"  {name:<50} {passed:7.0f} {used:7.0f}", flush=True)


if __name__ == "__main__":
    main()
