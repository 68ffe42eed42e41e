"""Latency of redirects at half of the maximum rate, alone and beside clients of the API.

wrk uses up to 256 connections. Before each request a connection pauses for an exponentially distributed time. This is
close to an open loop, because a slow response delays hardly any other request. Requests that are due within the same
millisecond are sent together.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from bench.harness.results import spread
from bench.load import wrk
from bench.load.visits import Visits
from bench.load.wrk import ALL_CORES, API_CLIENTS, LoadResult
from bench.redirects.ledger import Ledger

HEAD_START_SECONDS = 1.0
P99_TARGET_MS, BESIDE_TARGET = 5.0, 3.0


class Subject(NamedTuple):
    port: int
    api_key: str
    ledger: Ledger


class Half(NamedTuple):
    """One round: at the maximum rate and at half of it, without and with clients that create links."""

    full: LoadResult
    alone: LoadResult
    beside: LoadResult
    full_beside: LoadResult
    created: list[LoadResult]


def run(
    subjects: dict[str, Subject], visits: Visits, seconds: int, rounds: int, cores: Sequence[int] = ALL_CORES
) -> dict[str, dict[str, str]]:
    """Measure the subjects in turn, in a random order within each round. wrk runs on ``cores``.

    Print all results. Return, for each subject, figures by key of `bench.catalog`.
    """
    halves_by_subject: dict[str, list[Half]] = defaultdict(list)
    for number in range(rounds):
        for name in random.Random(number).sample(sorted(subjects), len(subjects)):
            halves_by_subject[name].append(_round(subjects[name], visits, seconds, cores))
    return {name: _report(name, halves) for name, halves in halves_by_subject.items()}


def _round(subject: Subject, visits: Visits, seconds: int, cores: Sequence[int]) -> Half:
    def load(pace: float = 0.0) -> LoadResult:
        return subject.ledger.add(wrk.load(subject.port, visits, seconds=seconds, pace=pace, cores=cores))

    created: list[LoadResult] = []
    full = load()
    alone = load(full.rate / 2)
    with wrk.creating(subject.port, subject.api_key, created):
        # Wait until the clients are at work.
        time.sleep(HEAD_START_SECONDS)
        beside = load(full.rate / 2)
        full_beside = load()
    return Half(full, alone, beside, full_beside, created)


def _report(name: str, halves: list[Half]) -> dict[str, str]:
    print(f"\n  {name}: min, median, max of {len(halves)} rounds")
    for title, measurements in (
        ("maximum rate", [half.full for half in halves]),
        (f"the same, {API_CLIENTS} clients creating links", [half.full_beside for half in halves]),
        ("half of the maximum", [half.alone for half in halves]),
        (f"the same, {API_CLIENTS} clients creating links", [half.beside for half in halves]),
    ):
        print(
            f"    {title:44} {spread([measurement.rate for measurement in measurements], '8,.0f')} requests/s;"
            f" p50 {spread([measurement.p50 for measurement in measurements], '6.2f')};"
            f" p99 {spread([measurement.p99 for measurement in measurements], '6.2f')} ms"
        )
    created = [load for half in halves for load in half.created]
    alone = statistics.median(half.alone.p99 for half in halves)
    ratios = [half.beside.p99 / half.alone.p99 for half in halves]
    times = statistics.median(half.beside.p99 for half in halves) / alone
    print(
        f"    links created per second meanwhile: {spread([load.rate for load in created], '6,.0f')};"
        f" errors {sum(load.errors for load in created)}\n"
        f"    p99 at half: at most {P99_TARGET_MS:g} ms: {'yes' if alone <= P99_TARGET_MS else 'NO'};"
        f" beside the API {times:.1f} times that (rounds: {spread(ratios, '4.1f')}):"
        f" at most {BESIDE_TARGET:g}: {'yes' if times <= BESIDE_TARGET else 'NO'}",
        flush=True,
    )
    rate = statistics.median(half.alone.rate for half in halves)
    return {
        "redirects-paced": f"at {rate:,.0f}/s {spread([half.alone.p99 for half in halves], '.1f')} ms",
        "redirects-beside-api": f"{spread([half.beside.p99 for half in halves], '.1f')} ms ({times:.1f} times)",
    }
