"""How long a redirect takes at half of what is possible, and beside clients of the API.

wrk with up to 256 connections, each of which thinks before it asks, for a time that is exponentially distributed:
nearly an open loop, as hardly one of the others waits for a slow answer. What falls due within a millisecond comes at
once.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from bench import wrk
from bench.redirects.ledger import Ledger
from bench.redirects.rounds import spread
from bench.visits import Visits
from bench.wrk import ALL_CORES, API_CLIENTS, Answered

HEAD_START_SECONDS = 1.0
P99_WANTED, BESIDE_WANTED = 5.0, 3.0


class Subject(NamedTuple):
    port: int
    api_key: str
    ledger: Ledger


class Half(NamedTuple):
    """One round: as fast as can be, and at half of that; without and with others who create links."""

    full: Answered
    alone: Answered
    beside: Answered
    full_beside: Answered
    created: list[Answered]


def run(
    subjects: dict[str, Subject], visits: Visits, seconds: int, rounds: int, cores: Sequence[int] = ALL_CORES
) -> None:
    """One after the other within each round, whose order is its own. wrk runs on these cores."""
    found: dict[str, list[Half]] = defaultdict(list)
    for number in range(rounds):
        for name in random.Random(number).sample(sorted(subjects), len(subjects)):
            found[name].append(_round(subjects[name], visits, seconds, cores))
    for name, halves in found.items():
        _print(name, halves)


def _round(subject: Subject, visits: Visits, seconds: int, cores: Sequence[int]) -> Half:
    def load(pace: float = 0.0) -> Answered:
        return subject.ledger.add(wrk.load(subject.port, visits, seconds=seconds, pace=pace, cores=cores))

    created: list[Answered] = []
    full = load()
    alone = load(full.rate / 2)
    with wrk.creating(subject.port, subject.api_key, created):
        # Until the clients are at work.
        time.sleep(HEAD_START_SECONDS)
        beside = load(full.rate / 2)
        full_beside = load()
    return Half(full, alone, beside, full_beside, created)


def _print(name: str, halves: list[Half]) -> None:
    print(f"\n  {name}: min, median, max of {len(halves)} rounds")
    for title, answers in (
        ("all that is possible", [half.full for half in halves]),
        (f"the same, {API_CLIENTS} clients creating links", [half.full_beside for half in halves]),
        ("half of it", [half.alone for half in halves]),
        (f"half of it, {API_CLIENTS} clients creating links", [half.beside for half in halves]),
    ):
        print(
            f"    {title:44} {spread([each.rate for each in answers], '8,.0f')} requests/s;"
            f" p50 {spread([each.p50 for each in answers], '6.2f')};"
            f" p99 {spread([each.p99 for each in answers], '6.2f')} ms"
        )
    created = [each for half in halves for each in half.created]
    alone = statistics.median(half.alone.p99 for half in halves)
    ratios = [half.beside.p99 / half.alone.p99 for half in halves]
    times = statistics.median(half.beside.p99 for half in halves) / alone
    print(
        f"    links created a second meanwhile: {spread([each.rate for each in created], '6,.0f')};"
        f" errors {sum(each.errors for each in created)}\n"
        f"    p99 at half: at most {P99_WANTED:g} ms: {'yes' if alone <= P99_WANTED else 'NO'};"
        f" beside the API {times:.1f} times that (rounds: {spread(ratios, '4.1f')}):"
        f" at most {BESIDE_WANTED:g}: {'yes' if times <= BESIDE_WANTED else 'NO'}",
        flush=True,
    )
