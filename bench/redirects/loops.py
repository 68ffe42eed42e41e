"""The compiled event loop and the same loop in Python, both relative to nginx's map in the same rounds.

The second service runs on the database of the first one. Both loops serve the same links to the same clients.
"""

from __future__ import annotations

import random
import statistics
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.harness.processes import cpu_seconds, pin, tree
from bench.harness.results import interpreter, spread
from bench.harness.running import site_of, web_server
from bench.load import wrk
from bench.load.visits import Visits
from bench.redirects.ledger import Ledger
from bench.redirects.servers import MAP, SERVICE, Server
from bench.redirects.warm import warm
from testing.proof.site import Site
from testing.service.drainer import drainer_held
from testing.service.running import Service

COMPILED, PYTHON = SERVICE, "Python loop"
RATES = (500, 2_000, 8_000)
DEPTH = 8


class Shape(NamedTuple):
    """``by_cpu``: compare processor time per request, not rates. ``targets``: of the compiled loop, by workers."""

    key: str
    name: str
    targets: Mapping[int, float] = {}
    close: bool = False
    depth: int = 1
    pace: float = 0.0
    by_cpu: bool = False


SHAPES = (
    Shape("loops-random", "links at random", {1: 1.3, 2: 1.1}),
    Shape("loops-close", "the same, Connection: close, processor time", {1: 0.9}, close=True, by_cpu=True),
    Shape("loops-pipelined", f"the same, {DEPTH} requests at once", {1: 1.0}, depth=DEPTH),
    *(
        Shape(f"loops-at-{rate}", f"processor time at {rate:,}/s", {1: 1 / 1.5}, pace=rate, by_cpu=True)
        for rate in RATES
    ),
)


class Subject(NamedTuple):
    server: Server
    ledger: Ledger | None


class Measured(NamedTuple):
    rate: float
    cpu_us: float


@contextmanager
def python_service(service: Service, folder: Path, workers: int) -> Iterator[tuple[Service, Site]]:
    """A service on the database of ``service`` with the event loop in Python."""
    site = site_of(service)
    folder.mkdir()
    beside = Service(
        folder,
        DATABASE_URL=site.url,
        SECRET_KEY=site.secret,
        WEB_CONCURRENCY=str(workers),
        COMPILED_LOOP="off",
        LOG_LEVEL="WARNING",
    )
    try:
        beside.start()
        yield beside, Site(beside.var_dir, site.url, site.secret)
    finally:
        beside.end()


def run(
    service: Service,
    api_key: str,
    nginx: Server,
    visits: Visits,
    *,
    folder: Path,
    workers: int,
    cores: tuple[Sequence[int], Sequence[int]],
    options: Namespace,
) -> dict[str, str]:
    """Print the results. Return figures by key of `bench.catalog`."""
    server_cores, client_cores = cores
    print(f"  {interpreter()}", flush=True)
    with python_service(service, folder / f"python{workers}", workers) as (beside, site):
        ledger = Ledger(service, api_key, site)
        with drainer_held(service), drainer_held(beside):
            for each in (service, beside):
                warm(ledger, each, visits)
                pin(tree(web_server(each)), server_cores)
            subjects = {
                MAP: Subject(nginx, None),
                COMPILED: Subject(Server(service.port, web_server(service)), ledger),
                PYTHON: Subject(Server(beside.port, web_server(beside)), ledger),
            }
            results: dict[str, dict[str, list[Measured]]] = {shape.key: defaultdict(list) for shape in SHAPES}
            for number in range(options.rounds):
                rng = random.Random(number)
                for shape in rng.sample(SHAPES, len(SHAPES)):
                    for name in rng.sample(sorted(subjects), len(subjects)):
                        results[shape.key][name].append(
                            _measure(subjects[name], shape, visits, options.seconds, client_cores)
                        )
        ledger.settle()
    return {shape.key: _report(shape, results[shape.key], workers) for shape in SHAPES}


def _measure(subject: Subject, shape: Shape, visits: Visits, seconds: int, cores: Sequence[int]) -> Measured:
    pids = tree(subject.server.pid)
    before = cpu_seconds(pids)
    result = wrk.load(
        subject.server.port,
        visits,
        # At low rates, the clock ticks of processor time are coarse.
        seconds=seconds * 3 if shape.pace else seconds,
        pace=shape.pace,
        close=shape.close,
        depth=shape.depth,
        cores=cores,
    )
    used = cpu_seconds(pids) - before
    if result.errors:
        raise RuntimeError(f"port {subject.server.port}: {result}")
    if subject.ledger is not None:
        subject.ledger.add(result._replace(connections=result.connections * shape.depth))
    return Measured(result.rate, used / result.requests * 1e6)


def _report(shape: Shape, by_name: dict[str, list[Measured]], workers: int) -> str:
    print(f"\n  {shape.name}: min / median / max\n    {'':14} {'requests/s':>28} {'CPU us/request':>24}")
    for name, measured in by_name.items():
        print(
            f"    {name:14} {spread([m.rate for m in measured], '8,.0f'):>28}"
            f" {spread([m.cpu_us for m in measured], '6.1f'):>24}"
        )
    figures = []
    for name in (COMPILED, PYTHON):
        ratios = [
            nginx.cpu_us / own.cpu_us if shape.by_cpu else own.rate / nginx.rate
            for own, nginx in zip(by_name[name], by_name[MAP], strict=True)
        ]
        target = shape.targets.get(workers) if name == COMPILED else None
        reached = statistics.median(ratios) >= (target or 0)
        verdict = f"   at least {target:.2f}: {'yes' if reached else 'NO'}" if target else ""
        print(f"    {name:14} x nginx map {spread(ratios, '6.3f')}{verdict}", flush=True)
        figures.append(f"{'compiled' if name == COMPILED else 'Python'} {spread(ratios, '.2f')}")
    return ", ".join(figures)
