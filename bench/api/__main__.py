"""python -m bench.api: creating, reading and updating a link, compared with a stock Django REST framework project.

The servers are measured right after each other in every round, in alternating order. ``--against COMMIT`` also
measures the service of that commit.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import django
from django.db import connection

from bench.api.sides import Side, service_side, stock_side
from bench.compare import checked_out
from bench.harness import cpu, results
from bench.harness.stack import PROJECT_DIR, database
from bench.harness.tools import require
from bench.load import wrk

TARGETS = {"create": 2.5, "get": 2.5, "update": 2.0}


class Measured(NamedTuple):
    """``cpu_ms`` is the processor time of a request, PostgreSQL's included."""

    rate: float
    cpu_ms: float


def measured(side: Side, action: str, seconds: int) -> Measured:
    method, path, body = side.requests[action]
    arguments = [method, path, *side.credential, body, str(side.ids), str(random.randrange(2**31))]
    before = cpu.seconds(side.pid, side.database)
    result = wrk.call_api(side.port, arguments, seconds=seconds)
    if result.errors:
        raise RuntimeError(f"{side.name}, {action}: {result}")
    return Measured(result.rate, (cpu.seconds(side.pid, side.database) - before) / result.requests * 1000)


def compare(sides: Sequence[Side], action: str, rounds: int, seconds: int) -> None:
    """The first side is compared with each of the others."""
    for side in sides:
        measured(side, action, seconds)
    figures: dict[str, list[Measured]] = {side.name: [] for side in sides}
    for number in range(rounds):
        for side in sides if number % 2 else reversed(sides):
            figures[side.name].append(measured(side, action, seconds))
    for name, values in figures.items():
        rate, used = (statistics.median(column) for column in zip(*values, strict=True))
        print(f"{action:<7} {name:<16} {rate:7,.0f}/s {used:6.2f} ms of processor time", flush=True)
    for other in sides[1:]:
        _print_ratio(action, other.name, figures[sides[0].name], figures[other.name])
    if sides[1].name == "stock":
        _record(action, figures, sides)


def _print_ratio(action: str, name: str, own: Sequence[Measured], other: Sequence[Measured]) -> None:
    rates = results.spread([a.rate / b.rate for a, b in zip(own, other, strict=True)], ".2f")
    used = results.spread([b.cpu_ms / a.cpu_ms for a, b in zip(own, other, strict=True)], ".2f")
    print(
        f"{action:<7} rate as a multiple of {name}: {rates}; processor time, {name} / own: {used}", flush=True
    )


def _record(action: str, figures: Mapping[str, Sequence[Measured]], sides: Sequence[Side]) -> None:
    own, stock = figures[sides[0].name], figures["stock"]
    ratios = [a.rate / b.rate for a, b in zip(own, stock, strict=True)]
    used = statistics.median(b.cpu_ms / a.cpu_ms for a, b in zip(own, stock, strict=True))
    reached = "yes" if statistics.median(ratios) >= TARGETS[action] else "NO"
    print(f"{action:<7} at least {TARGETS[action]} times the rate: {reached}", flush=True)
    results.record(
        f"api-{action}",
        f"{results.spread(ratios, '.2f')} times the rate, {used:.2f} times less processor time ({len(ratios)} rounds)",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--links", type=int, default=10_000)
    parser.add_argument("--only", choices=TARGETS, action="append", help="can be repeated")
    parser.add_argument("--against", metavar="COMMIT")
    parser.add_argument("--without-stock", action="store_true")
    options = parser.parse_args()
    require("wrk")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with database("api"), ExitStack() as stack:
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()
        stack.callback(connection.close)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shortener-bench-")))
        sides = [stack.enter_context(service_side("service", PROJECT_DIR, folder, options.links))]
        if not options.without_stock:
            sides.append(stack.enter_context(stock_side(folder, options.links)))
        if options.against:
            other = stack.enter_context(checked_out(options.against))
            sides.append(stack.enter_context(service_side("former", other, folder, options.links)))
        for action in options.only or TARGETS:
            compare(sides, action, options.rounds, options.seconds)


if __name__ == "__main__":
    main()
