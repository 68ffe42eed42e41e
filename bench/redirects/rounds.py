"""As many redirects as there can be, in rounds: nginx's map right before and right after everything else."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bench import wrk
from bench.processes import cpu_seconds, tree
from bench.redirects.ledger import Ledger
from bench.redirects.servers import LOGGED, MAP, PLAIN, RETURN, SERVICE, Server
from bench.visits import Visits
from bench.wrk import Answered

# On a busy machine all 64 clients of the plain view may wait for longer than a measurement takes.
TRIES = 3
# With keep-alive. Without, opening the connection is what costs: nginx itself is 35 times as fast as the plain view.
WANTED = {MAP: 0.7, LOGGED: 0.9, PLAIN: 50.0}


class Shape(NamedTuple):
    name: str
    hot: bool
    close: bool
    contenders: tuple[str, ...]


SHAPES = (
    Shape("links at random, keep-alive", False, False, (SERVICE, LOGGED, PLAIN)),
    Shape("hot link, keep-alive", True, False, (SERVICE, RETURN, PLAIN)),
    Shape("links at random, Connection: close", False, True, (SERVICE, PLAIN)),
    Shape("hot link, Connection: close", True, True, (SERVICE,)),
)


class Measured(NamedTuple):
    """``ratio``: to the rate of nginx's map, the mean of the one before and the one after."""

    answered: Answered
    cpu_us: float
    ratio: float = 1.0


Rounds = Mapping[str, list[Measured]]


class Field(NamedTuple):
    """Everything that a round needs. The service's answers go into the ledger."""

    servers: Mapping[str, Server]
    visits: Mapping[bool, Visits]
    ledger: Ledger
    seconds: int
    client_cores: Iterable[int]

    def measure(self, name: str, shape: Shape) -> Measured:
        server = self.servers[name]
        pids = tree(server.pid)
        for _ in range(TRIES):
            before = cpu_seconds(pids)
            answered = wrk.load(
                server.port,
                self.visits[shape.hot],
                seconds=self.seconds,
                close=shape.close,
                cores=self.client_cores,
            )
            used = cpu_seconds(pids) - before
            if answered.requests:
                break
        else:
            raise RuntimeError(f"{name} does not answer within {self.seconds} s.")
        if name == SERVICE:
            self.ledger.add(answered)
        elif answered.errors and name != PLAIN:
            raise RuntimeError(f"{name}: {answered}")
        return Measured(answered, used / answered.requests * 1e6)


def run(field: Field, rounds: int) -> None:
    found: dict[Shape, dict[str, list[Measured]]] = {shape: defaultdict(list) for shape in SHAPES}
    for number in range(rounds):
        chance = random.Random(number)
        for shape in chance.sample(SHAPES, len(SHAPES)):
            before = field.measure(MAP, shape)
            for name in chance.sample(shape.contenders, len(shape.contenders)):
                measured, after = field.measure(name, shape), field.measure(MAP, shape)
                pair = (before.answered.rate + after.answered.rate) / 2
                found[shape][name].append(measured._replace(ratio=measured.answered.rate / pair))
                found[shape][MAP].append(before)
                before = after
    for shape, of_shape in found.items():
        _print(shape, of_shape)


def _print(shape: Shape, rounds: Rounds) -> None:
    print(
        f"\n  {shape.name}\n    {'':14} {'requests/s':>24} {'x nginx map':>24} {'CPU us/request':>21}   p50    p99 ms"
    )
    for name in (*shape.contenders, MAP):
        each = rounds[name]
        print(
            f"    {name:14} {spread([m.answered.rate for m in each], '8,.0f')}"
            f" {spread([m.ratio for m in each], '8.3f')} {spread([m.cpu_us for m in each], '7.1f')}"
            f" {statistics.median(m.answered.p50 for m in each):6.1f}"
            f" {statistics.median(m.answered.p99 for m in each):6.1f}"
        )
    for name in (MAP, *shape.contenders[1:]):
        # Of the same round, each by way of the maps beside it.
        ratios = [
            mine.ratio / (1.0 if name == MAP else other.ratio)
            for mine, other in zip(rounds[SERVICE], rounds[name], strict=False)
        ]
        wanted, median = None if shape.close else WANTED.get(name), statistics.median(ratios)
        verdict = f"   at least {wanted:g}: {'yes' if median >= wanted else 'NO'}" if wanted else ""
        print(f"    service / {name:14} {spread(ratios, '8.3f')}{verdict}", flush=True)


def spread(values: list[float], form: str) -> str:
    return " ".join(format(value, form) for value in (min(values), statistics.median(values), max(values)))
