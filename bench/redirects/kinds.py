"""Requests for links that are not plain redirects, relative to plain links in the same rounds.

Also the latency of plain links beside requests for unknown codes.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from bench.harness.processes import cpu_seconds, pin, tree
from bench.harness.results import spread
from bench.harness.running import web_server
from bench.load import wrk
from bench.load.various_links import ADMITTING_LISTS, DEVICE_RULES, REFUSING_LISTS, various_codes
from bench.load.visits import Visits, address
from bench.load.wrk import LoadResult
from bench.redirects.ledger import Ledger
from bench.redirects.proxied import proxied
from bench.redirects.warm import warm
from testing.service.running import Service

LINKS = 200
WARM_SECONDS, HEAD_START_SECONDS = 3, 1
# Requests per second: the paced load of plain links, and that of unknown codes beside it.
PLAIN_PACE, UNKNOWN_PACE = 3_000, 200
UNKNOWN_CODES, ADDRESSES = 10_000, 5_000
PLAIN, RANDOM_CODES = "plain links", "unknown codes at random"


class Measured(NamedTuple):
    """``cpu_us``: of the web server, per request. ``ratio``: to the mean of plain links before and after."""

    rate: float
    cpu_us: float
    ratio: float = 1.0


class Kind(NamedTuple):
    """``counts``: every response is a redirect that counts as a click. ``refused``: every response is a refusal."""

    name: str
    key: str
    counts: bool = False
    refused: bool = False


KINDS = (
    Kind("an unknown code", "redirects-unknown", refused=True),
    Kind(RANDOM_CODES, "redirects-unknown-random", refused=True),
    Kind("lists that admit", "redirects-allow-list", counts=True),
    Kind("lists that refuse", "redirects-refused", refused=True),
    Kind("a rule by device", "redirects-device-rule", counts=True),
    Kind("/healthz", "redirects-health"),
    Kind("previews", "redirects-preview"),
)


def visits_of(folder: Path, links: Collection[str], host: str) -> dict[str, Visits]:
    """The visits of plain links, whose codes are ``links``, and of each kind."""
    draw = random.Random(20270328)
    addresses = [address(draw.getrandbits(32)) for _ in range(ADDRESSES)]
    codes: dict[str, Iterable[str]] = {
        PLAIN: links,
        "an unknown code": ["nothing"],
        RANDOM_CODES: [f"nothing{draw.getrandbits(60):x}" for _ in range(UNKNOWN_CODES)],
        "lists that admit": various_codes(LINKS, ADMITTING_LISTS),
        "lists that refuse": various_codes(LINKS, REFUSING_LISTS),
        "a rule by device": various_codes(LINKS, DEVICE_RULES),
        "/healthz": ["healthz"],
        "previews": [f"{code}+" for code in draw.sample(sorted(links), min(LINKS, len(links)))],
    }
    return {
        name: Visits(folder / f"kind{number}", ((f"/{code}", host) for code in own), addresses=addresses)
        for number, (name, own) in enumerate(codes.items())
    }


class Subject(NamedTuple):
    """The service, and the visits of plain links and of each kind. wrk runs on ``cores``."""

    ledger: Ledger
    port: int
    pid: int
    visits: Mapping[str, Visits]
    cores: Iterable[int]

    def load_plain(self, seconds: int, pace: float = 0.0) -> LoadResult:
        return self.ledger.add(
            wrk.load(self.port, self.visits[PLAIN], seconds=seconds, pace=pace, cores=self.cores)
        )

    def load(self, kind: Kind, seconds: int) -> Measured:
        pids = tree(self.pid)
        before = cpu_seconds(pids)
        result = wrk.load(self.port, self.visits[kind.name], seconds=seconds, cores=self.cores)
        used = cpu_seconds(pids) - before
        if result.broken or result.refused != (result.requests if kind.refused else 0):
            raise RuntimeError(f"{kind.name}: {result}")
        if kind.counts:
            self.ledger.add(result)
        return Measured(result.rate, used / max(1, result.requests) * 1e6)


def measure(
    service: Service,
    api_key: str,
    visits: Mapping[str, Visits],
    rounds: int,
    *,
    seconds: int,
    cores: tuple[Iterable[int], Iterable[int]],
) -> dict[str, str]:
    """Restart the service behind a proxy, measure, and restart it without. ``cores``: of the server and of wrk.

    Return figures by key of `bench.catalog`.
    """
    server_cores, client_cores = cores
    with proxied(service, api_key) as ledger:
        warm(ledger, service, visits[PLAIN])
        pin(tree(web_server(service)), server_cores)
        subject = Subject(ledger, service.port, web_server(service), visits, client_cores)
        for kind in KINDS:
            subject.load(kind, WARM_SECONDS)
        figures = _rounds(subject, seconds, rounds) | _beside(subject, seconds, rounds)
        pin(tree(web_server(service)), wrk.ALL_CORES)
    return figures


def _rounds(subject: Subject, seconds: int, rounds: int) -> dict[str, str]:
    plain: list[float] = []
    measured: dict[Kind, list[Measured]] = defaultdict(list)
    for number in range(rounds):
        before = subject.load_plain(seconds).rate
        for kind in random.Random(number).sample(KINDS, len(KINDS)):
            own, after = subject.load(kind, seconds), subject.load_plain(seconds).rate
            measured[kind].append(own._replace(ratio=2 * own.rate / (before + after)))
            plain.append(before := after)
    print(f"\n  requests of other kinds, min / median / max of {rounds} rounds")
    print(f"    {PLAIN:26} {spread(plain, '8,.0f')} requests/s")
    figures = {}
    for kind in KINDS:
        rates, costs, ratios = zip(*measured[kind], strict=True)
        print(
            f"    {kind.name:26} {spread(rates, '8,.0f')} requests/s, {spread(costs, '6.0f')} us of CPU,"
            f" x plain links {spread(ratios, '.3f')}",
            flush=True,
        )
        figures[kind.key] = (
            f"{spread(ratios, '.2f')} ({statistics.median(rates):,.0f}/s, {statistics.median(costs):.0f} us of CPU)"
        )
    return figures


def _beside(subject: Subject, seconds: int, rounds: int) -> dict[str, str]:
    unknown = subject.visits[RANDOM_CODES]
    results: dict[bool, list[LoadResult]] = defaultdict(list)
    with ThreadPoolExecutor(1) as pool:
        for number in range(rounds):
            for is_beside in random.Random(number).sample([False, True], 2):
                if is_beside:
                    longer = seconds + 2 * HEAD_START_SECONDS
                    meanwhile = pool.submit(
                        wrk.load,
                        subject.port,
                        unknown,
                        seconds=longer,
                        pace=UNKNOWN_PACE,
                        cores=subject.cores,
                    )
                    time.sleep(HEAD_START_SECONDS)
                results[is_beside].append(subject.load_plain(seconds, PLAIN_PACE))
                if is_beside and (load := meanwhile.result()).refused != load.requests:
                    raise RuntimeError(f"{RANDOM_CODES}: {load}")
    print(f"\n  {PLAIN_PACE:,} plain links/s, without and with {UNKNOWN_PACE} unknown codes/s")
    for is_beside, name in ((False, "alone"), (True, "beside unknown codes")):
        rates, latencies = ([getattr(one, field) for one in results[is_beside]] for field in ("rate", "p50"))
        print(
            f"    {name:26} {spread(rates, '8,.0f')} requests/s; p50 {spread(latencies, '.2f')};"
            f" p99 {_p99(results[is_beside], '.2f')} ms",
            flush=True,
        )
    return {
        "redirects-beside-unknown": f"{_p99(results[True], '.1f')} ms (alone {_p99(results[False], '.1f')} ms)"
    }


def _p99(results: Iterable[LoadResult], form: str) -> str:
    return spread([result.p99 for result in results], form)
