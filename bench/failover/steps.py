"""A run: faults at random moments, alone and in pairs, and the pauses of each."""

from __future__ import annotations

import subprocess
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import psycopg

from testing.failover.cluster import Cluster, cluster
from testing.failover.excuses import NORMAL_SECONDS, Broken
from testing.failover.faults import FAULTS, Begun, Fault
from testing.failover.load import Load
from testing.failover.observing import Observer, Row, Seen, table
from testing.failover.probes import Probe
from testing.failover.truth import Findings, judge, reported_losses
from testing.failover.workers import longest_pause
from testing.failover.writers import Stale

# Between the recovery from one fault and the next one.
CALM_SECONDS = (1.0, 4.0)
# From the first fault of a pair to the second.
OFFSET_SECONDS = (0.0, 9.0)
# How many of ten steps are pairs.
PAIRS_OF_TEN = 4


class Step(NamedTuple):
    """What happened in one step. ``pauses`` are seconds, by kind; ``failed`` has the failures by kind and reason."""

    broken: Broken
    pauses: dict[str, float]
    failed: dict[str, Counter[str]]
    recovery: float
    stale: list[Stale]
    seen: Seen

    @property
    def faults(self) -> list[Fault]:
        return [fault for fault, _ in self.broken.faults]

    def __str__(self) -> str:
        where = " + ".join(where for _, where in self.broken.faults)
        pauses = "  ".join(f"{kind} {seconds:4.1f}" for kind, seconds in self.pauses.items())
        failed = "".join(
            f"  {kind} failed: {', '.join(f'{number} x {reason}' for reason, number in reasons.most_common(4))}"
            for kind, reasons in self.failed.items()
            if reasons
        )
        return (
            f"{self.broken!s:<45} {where:<22} {pauses}  healthy after {self.recovery:3.0f}"
            f"{failed}{_words_on(self.stale)}"
        )


def _words_on(stale: list[Stale]) -> str:
    if not stale:
        return ""
    oldest = max(stale, key=lambda one: one.age)
    return f"  old destinations: {len(stale)}, up to {oldest.age:.1f} s on {oldest.host} ({oldest.readiness})"


class Run:
    """A cluster under load, and those who watch it."""

    def __init__(self, cluster: Cluster, pace: float, random: Random) -> None:
        self.cluster, self.load, self.observer = cluster, Load(cluster, pace), Observer(cluster)
        self.probes = [Probe(member) for member in cluster.members]
        self._random = random
        self._checked = 0
        self._reported = reported_losses(cluster)

    def start(self) -> None:
        for thread in (self.observer, *self.probes):
            thread.start()
        self.load.start()

    def stop(self) -> None:
        self.load.stop()
        for probe in self.probes:
            probe.stop()

    def step(self, chosen: list[Fault]) -> Step:
        """Let these faults happen, and wait for the recovery."""
        time.sleep(self._random.uniform(*CALM_SECONDS))
        self.observer.begin()
        began = time.monotonic()
        places = self._break(chosen)
        recovery = self._wait_until_healthy(chosen)
        ended = time.monotonic()
        windows = {kind: pulse.window(began, ended) for kind, pulse in self.load.pulses.items()}
        accepted = [write.ended for probe in self.probes for write in list(probe.writes)]
        written = [moment for kind in ("creations", "edits") for moment in self.load.pulses[kind].successes()]
        pauses = {
            "PostgreSQL": longest_pause(accepted, began, ended),
            "writes": longest_pause(written, began, ended),
            "reports": windows["reports"].pause,
            "redirects": windows["redirects"].pause,
        }
        failed = {kind: windows[kind].failures for kind in ("redirects", "creations", "edits", "reports")}
        broken = Broken([*zip(chosen, places, strict=True)], began, ended, self._newly_reported())
        return Step(broken, pauses, failed, recovery, self.check_destinations(broken), self.observer.end())

    def rest(self) -> Broken:
        """What followed the last step, and no fault excuses."""
        rest = Broken([], time.monotonic(), time.monotonic(), self._newly_reported())
        self.check_destinations(rest)
        return rest

    def _newly_reported(self) -> dict[str, int]:
        before, self._reported = self._reported, reported_losses(self.cluster)
        # A host forgets those that it could not store when it restarts.
        return {host: max(0, number - before[host]) for host, number in self._reported.items()}

    def _break(self, chosen: list[Fault]) -> list[str]:
        """Returns where each one was."""
        begun: list[tuple[float, Begun]] = []
        for number, fault in enumerate(chosen):
            if number:
                time.sleep(self._random.uniform(*OFFSET_SECONDS))
            lasts = self._random.uniform(*fault.seconds)
            try:
                one = fault.begin(self.cluster, self._random)
            except (psycopg.Error, subprocess.TimeoutExpired, TimeoutError) as error:
                # The other fault of the pair may have taken what this one needs.
                one = Begun(f"(impossible: {type(error).__name__})", lambda: None)
            begun.append((time.monotonic() + lasts, one))
        for until, one in sorted(begun, key=lambda pair: pair[0]):
            try:
                time.sleep(max(0.0, until - time.monotonic()))
            finally:
                one.end()
        return [one.where for _, one in begun]

    def _wait_until_healthy(self, chosen: list[Fault]) -> float:
        began = time.monotonic()
        try:
            return self.cluster.wait_until_healthy()
        except TimeoutError as error:
            self.load.problems.add(f"after {[fault.name for fault in chosen]}: {error}")
            FAULTS["everything-restarted"].begin(self.cluster, self._random)
            self.cluster.wait_until_healthy()
            return time.monotonic() - began

    def check_destinations(self, broken: Broken) -> list[Stale]:
        """The old destinations since the last call. Those are problems that no document allows.

        Of its own edits, a host must show none at all.
        """
        stale = self.load.stale[self._checked :]
        self._checked += len(stale)
        for one in stale:
            one.readiness = self.observer.readiness_of(one.host, one.moment)
            one.allowed = 0 if one.host == one.by else broken.oldest_seconds(one.host, one.readiness)
            if one.age > one.allowed:
                self.load.problems.add(
                    f"{one.host} ({one.readiness}) led to an old destination {one.age:.2f} s after {one.by} had"
                    f" acknowledged another, and not at most {one.allowed:.0f} s"
                )
        return stale


def prove(faults: int, random: Random, options: Namespace) -> Findings:
    """Run the faults and judge the outcome."""
    steps: list[Step] = []
    with cluster(options.logs) as made:
        run = Run(made, options.pace, random)
        run.start()
        time.sleep(5)
        try:
            for chosen in _plan(faults, random, options):
                steps.append(run.step(chosen))
                print(f"{time.monotonic() - run.load.problems.began:6.0f} s  {steps[-1]}", flush=True)
        except (TimeoutError, KeyboardInterrupt) as error:
            run.load.problems.add(f"ended early: {error!r}")
        run.stop()
        made.wait_until_healthy()
        findings = judge(made, run.load, run.probes, [*(step.broken for step in steps), run.rest()])
    _summarize(steps, run.load, findings)
    if options.table:
        options.table.write_text(table(_rows(steps)) + "\n")
    return findings


def _plan(faults: int, random: Random, options: Namespace) -> Iterator[list[Fault]]:
    """All faults in a random order, again and again; some in pairs, which count as two."""
    if options.only:
        yield from ([FAULTS[name] for name in names.split("+")] for names in options.only)
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
    failed = sum((step.failed["redirects"] for step in steps), Counter())
    findings.lines.append(
        f"faults: {sum(len(step.faults) for step in steps)}; requests of known links that failed: {failed.total():,}"
        f" of {load.pulses['redirects'].window(0, time.monotonic()).attempts:,}"
    )
    for is_cut_off, words in (
        (False, "on hosts that reach the database"),
        (True, "on hosts that are cut off"),
    ):
        stale = [one for one in load.stale if (one.allowed > NORMAL_SECONDS) is is_cut_off]
        oldest = max(stale, key=lambda one: one.age - one.allowed, default=None)
        findings.lines.append(
            f"old destinations after an acknowledged edit, {words}: {len(stale):,}"
            + (f", up to {oldest.age:.1f} s (allowed: {oldest.allowed:.0f} s)" if oldest else "")
        )


def _rows(steps: list[Step]) -> Iterator[Row]:
    """Of each fault that happened alone, whenever it did."""
    for name, fault in FAULTS.items():
        same = [step for step in steps if [one.name for one in step.faults] == [name]]
        if same:
            seen = Seen()
            for step in same:
                seen.add(step.seen)
            longest = (max(step.pauses[kind] for step in same) for kind in ("writes", "reports", "redirects"))
            yield Row([fault.title], tuple(map(round, longest)), seen)
