"""The maximum rate of redirects, in rounds: nginx's map is measured right before and right after each contender."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bench.harness.processes import cpu_seconds, tree
from bench.harness.results import spread
from bench.load import wrk
from bench.load.visits import Visits
from bench.load.wrk import LoadResult
from bench.redirects.ledger import Ledger
from bench.redirects.servers import LOGGED, MAP, PLAIN, RETURN, SERVICE, Server

# On a busy machine the plain view may need longer than one measurement to respond to any of 64 clients.
TRIES = 3
# With keep-alive. Without it, opening connections dominates: nginx itself is only 35 times as fast as the plain view.
TARGETS = {MAP: 0.7, LOGGED: 0.9, PLAIN: 50.0}


class Shape(NamedTuple):
    """``keys``: rows of `bench.catalog` for the ratio to each server."""

    name: str
    hot: bool
    close: bool
    contenders: tuple[str, ...]
    keys: tuple[tuple[str, str], ...] = ()


SHAPES = (
    Shape(
        "links at random, keep-alive",
        False,
        False,
        (SERVICE, LOGGED, PLAIN),
        ((MAP, "redirects-map"), (LOGGED, "redirects-log"), (PLAIN, "redirects-plain")),
    ),
    Shape("hot link, keep-alive", True, False, (SERVICE, RETURN, PLAIN), ((MAP, "redirects-hot"),)),
    Shape(
        "links at random, Connection: close",
        False,
        True,
        (SERVICE, PLAIN),
        ((MAP, "redirects-close"), (PLAIN, "redirects-plain-close")),
    ),
    Shape("hot link, Connection: close", True, True, (SERVICE,)),
)


class Measured(NamedTuple):
    """``ratio`` is the rate divided by the mean of nginx's map before and after."""

    result: LoadResult
    cpu_us: float
    ratio: float = 1.0


Rounds = Mapping[str, list[Measured]]


class Field(NamedTuple):
    """Everything that a round needs. The ledger counts the service's responses."""

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
            result = wrk.load(
                server.port,
                self.visits[shape.hot],
                seconds=self.seconds,
                close=shape.close,
                cores=self.client_cores,
            )
            used = cpu_seconds(pids) - before
            if result.requests:
                break
        else:
            raise RuntimeError(f"{name} does not respond within {self.seconds} s.")
        if name == SERVICE:
            self.ledger.add(result)
        elif result.errors and name != PLAIN:
            raise RuntimeError(f"{name}: {result}")
        return Measured(result, used / result.requests * 1e6)


def run(field: Field, rounds: int) -> dict[str, str]:
    """Print all results. Return figures by key of `bench.catalog`."""
    results: dict[Shape, dict[str, list[Measured]]] = {shape: defaultdict(list) for shape in SHAPES}
    for number in range(rounds):
        rng = random.Random(number)
        for shape in rng.sample(SHAPES, len(SHAPES)):
            before = field.measure(MAP, shape)
            for name in rng.sample(shape.contenders, len(shape.contenders)):
                measured, after = field.measure(name, shape), field.measure(MAP, shape)
                pair = (before.result.rate + after.result.rate) / 2
                results[shape][name].append(measured._replace(ratio=measured.result.rate / pair))
                results[shape][MAP].append(before)
                before = after
    figures: dict[str, str] = {}
    for shape, of_shape in results.items():
        figures |= _report(shape, of_shape)
    return figures


def _report(shape: Shape, rounds: Rounds) -> dict[str, str]:
    figures = {}
    print(
        f"\n  {shape.name}\n    {'':14} {'requests/s':>24} {'x nginx map':>24} {'CPU us/request':>21}   p50    p99 ms"
    )
    for name in (*shape.contenders, MAP):
        measured = rounds[name]
        print(
            f"    {name:14} {spread([m.result.rate for m in measured], '8,.0f')}"
            f" {spread([m.ratio for m in measured], '8.3f')} {spread([m.cpu_us for m in measured], '7.1f')}"
            f" {statistics.median(m.result.p50 for m in measured):6.1f}"
            f" {statistics.median(m.result.p99 for m in measured):6.1f}"
        )
    for name in (MAP, *shape.contenders[1:]):
        # Ratios within a round, each relative to the maps measured next to it.
        ratios = [
            own.ratio / (1.0 if name == MAP else other.ratio)
            for own, other in zip(rounds[SERVICE], rounds[name], strict=False)
        ]
        target, median = None if shape.close else TARGETS.get(name), statistics.median(ratios)
        verdict = f"   at least {target:g}: {'yes' if median >= target else 'NO'}" if target else ""
        print(f"    service / {name:14} {spread(ratios, '8.3f')}{verdict}", flush=True)
        if key := dict(shape.keys).get(name):
            figures[key] = spread(ratios, ".0f" if name == PLAIN else ".2f")
    return figures
