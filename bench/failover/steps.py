"""A run: faults at random moments, alone and in pairs, and the pauses of each."""

from __future__ import annotations

import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from testing.failover.cluster import Cluster, cluster
from testing.failover.faults import FAULTS, Begun, Fault
from testing.failover.load import Load
from testing.failover.observing import Observer, Seen, table
from testing.failover.probes import Probe
from testing.failover.truth import Findings, judge
from testing.failover.workers import longest_pause
from testing.failover.writers import Stale

# Between the recovery from one fault and the next one.
CALM_SECONDS = (1.0, 4.0)
# From the first fault of a pair to the second.
OFFSET_SECONDS = (0.0, 9.0)
# Changes of another host take effect in so many seconds on one that is not cut off, see docs/security-model.md.
STALE_SECONDS = 7.0
# How many of ten steps are pairs.
PAIRS_OF_TEN = 4


class Step(NamedTuple):
    """What happened in one step. ``pauses`` are seconds, by kind; ``failed`` the failures of known links."""

    faults: list[Fault]
    where: str
    pauses: dict[str, float]
    failed: Counter[str]
    recovery: float
    stale: list[Stale]
    seen: Seen

    def __str__(self) -> str:
        names = " + ".join(fault.name for fault in self.faults)
        pauses = "  ".join(f"{kind} {seconds:4.1f}" for kind, seconds in self.pauses.items())
        failed = ", ".join(f"{number} x {reason}" for reason, number in self.failed.most_common())
        return (
            f"{names:<45} {self.where:<22} {pauses}  healthy after {self.recovery:3.0f}"
            f""
            f"{f'  known links failed: {failed}' if failed else ''}{_words_on(self.stale)}"
        )


def _words_on(stale: list[Stale]) -> str:
    if not stale:
        return ""
    oldest = max(stale, key=lambda one: one.age)
    return f"  old destinations: {len(stale)}, up to {oldest.age:.1f} s on {oldest.host} ({oldest.readiness})"


def too_old(stale: list[Stale], observer: Observer) -> list[str]:
    """Old destinations that no document allows: on the host of the edit, or on another one that is not cut off."""
    problems = []
    for one in stale:
        one.readiness = observer.readiness_of(one.host, one.moment)
        if one.host == one.by or (one.age > STALE_SECONDS and one.readiness == "200"):
            problems.append(
                f"{one.host} ({one.readiness}) led to an old destination {one.age:.2f} s after {one.by} had"
                " acknowledged another"
            )
    return problems


def prove(faults: int, random: Random, options: Namespace) -> Findings:
    """Run the faults and judge the outcome."""
    with cluster(options.logs) as made:
        load, observer = Load(made, options.pace), Observer(made)
        probes = [Probe(member) for member in made.members]
        for thread in (observer, *probes):
            thread.start()
        load.start()
        time.sleep(5)
        steps: list[Step] = []
        try:
            for chosen in _plan(faults, random, options):
                steps.append(_step(made, load, observer, probes, chosen, random))
                print(f"{time.monotonic() - load.problems.began:6.0f} s  {steps[-1]}", flush=True)
        except TimeoutError as error:
            load.problems.add(str(error))
        except KeyboardInterrupt:
            load.problems.add("interrupted")
        load.stop()
        for probe in probes:
            probe.stop()
        findings = judge(made, load, probes)
    _summarize(steps, load, findings)
    if options.table:
        options.table.write_text(table(_rows(steps)) + "\n")
    return findings


def _plan(faults: int, random: Random, options: Namespace) -> Iterator[list[Fault]]:
    """All faults in a random order, again and again; some in pairs, which count as two."""
    if options.only:
        yield from ([FAULTS[name]] for name in options.only)
        return
    waiting: list[Fault] = []
    while faults > 0:
        if len(waiting) < 2:
            # The one that is left is not repeated at once.
            waiting += random.sample([*FAULTS.values()], len(FAULTS))
        is_pair = faults > 1 and not options.singles and random.randrange(10) < PAIRS_OF_TEN
        chosen = [waiting.pop(0) for _ in range(2 if is_pair else 1)]
        faults -= len(chosen)
        yield chosen


def _step(
    made: Cluster, load: Load, observer: Observer, probes: list[Probe], chosen: list[Fault], random: Random
) -> Step:
    time.sleep(random.uniform(*CALM_SECONDS))
    observer.begin()
    stale_before, began = len(load.stale), time.monotonic()
    begun: list[tuple[float, Begun]] = []
    for number, fault in enumerate(chosen):
        if number:
            time.sleep(random.uniform(*OFFSET_SECONDS))
        lasts = random.uniform(*fault.seconds)
        begun.append((time.monotonic() + lasts, fault.begin(made, random)))
    for until, fault in sorted(begun, key=lambda pair: pair[0]):
        time.sleep(max(0.0, until - time.monotonic()))
        fault.end()
    recovery = made.wait_until_healthy()
    stale = load.stale[stale_before:]
    load.problems.lines += too_old(stale, observer)
    ended = time.monotonic()
    windows = {kind: pulse.window(began, ended) for kind, pulse in load.pulses.items()}
    accepted = [write.ended for probe in probes for write in list(probe.writes)]
    pauses = {
        "PostgreSQL": longest_pause(accepted, began, ended),
        "writes": max(windows["creations"].pause, windows["edits"].pause),
        "reports": windows["reports"].pause,
        "redirects": windows["redirects"].pause,
    }
    where = " + ".join(fault.where for _, fault in begun)
    return Step(chosen, where, pauses, windows["redirects"].failures, recovery, stale, observer.end())


def _summarize(steps: list[Step], load: Load, findings: Findings) -> None:
    """Add the pauses by kind of fault, and the old destinations."""
    singles: dict[str, list[Step]] = {}
    for step in steps:
        if len(step.faults) == 1:
            singles.setdefault(step.faults[0].name, []).append(step)
    for name, same in sorted(singles.items()):
        longest = {kind: max(step.pauses[kind] for step in same) for kind in same[0].pauses}
        words = ", ".join(f"{kind} {seconds:.1f} s" for kind, seconds in longest.items())
        findings.lines.append(f"longest pauses, {name} ({len(same)} x): {words}")
    pairs = [step for step in steps if len(step.faults) > 1]
    if pairs:
        longest = {kind: max(step.pauses[kind] for step in pairs) for kind in pairs[0].pauses}
        words = ", ".join(f"{kind} {seconds:.1f} s" for kind, seconds in longest.items())
        findings.lines.append(f"longest pauses, pairs ({len(pairs)} x): {words}")
    failed = sum((step.failed for step in steps), Counter())
    findings.lines.append(
        f"faults: {sum(len(step.faults) for step in steps)}; requests of known links that failed: {failed.total():,}"
        f" of {load.pulses['redirects'].window(0, time.monotonic()).attempts:,}"
    )
    ages = [one.age for one in load.stale]
    findings.lines.append(
        f"old destinations after an acknowledged edit: {len(ages):,}, up to {max(ages, default=0):.2f} s"
    )


def _rows(steps: list[Step]) -> Iterator[tuple[str, str, Seen]]:
    """Of each fault that happened alone."""
    shown = set()
    for step in steps:
        fault = step.faults[0]
        if len(step.faults) == 1 and fault.name not in shown:
            shown.add(fault.name)
            pauses = ", ".join(f"{kind} {seconds:.0f} s" for kind, seconds in step.pauses.items())
            yield fault.title, pauses, step.seen
