"""Runs every fault in turn, with the requested number of repeats."""

from __future__ import annotations

import random
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from testing.proof import damage, disk_faults, journal_faults, restore_faults, service_faults, webhook_faults
from testing.proof.site import Site, prepare
from testing.proof.verdict import Verdict
from testing.service.hosts import make_folder
from testing.service.running import Service

CLICKS_WHILE_FULL = 1_000


def every_fault(site: Site, options: Namespace) -> Iterator[Verdict]:
    """``site`` serves the faults that need no web server; the others start a service of their own."""
    yield from _journal_faults(site, options)
    service = Service(make_folder(), **webhook_faults.ENVIRONMENT)
    try:
        service.start()
        target = service_faults.target(service, service.owner.api_key, options.seed)
        for fault, repeats in (
            (service_faults.workers_killed, options.workers_kills),
            (service_faults.drainers_killed, options.drainer_kills),
            (service_faults.database_stopped, options.outage_seconds),
            (service_faults.everything_killed, options.all_kills),
            (webhook_faults.receiver_served, options.receiver_kills),
        ):
            if repeats:
                yield fault(target, repeats)
    finally:
        service.end()


def _journal_faults(site: Site, options: Namespace) -> Iterator[Verdict]:
    with tempfile.TemporaryDirectory(prefix="shortener-proof-") as folder:
        yield from _damage(Path(folder))
        stage = journal_faults.Stage(site, prepare(site), Path(folder), random.Random(options.seed))
        if options.point_kills:
            yield from journal_faults.every_point(stage, options.point_kills)
        if options.starts:
            yield journal_faults.drainers_at_once(stage, options.starts)
        if options.cuts:
            yield journal_faults.commit_unknown(stage, options.cuts)
        yield disk_faults.journal_full(stage, CLICKS_WHILE_FULL, reachable=True)
        yield disk_faults.journal_full(stage, CLICKS_WHILE_FULL, reachable=False)
        if options.disk_faults:
            yield disk_faults.disk_fails(stage, options.disk_faults)
        if options.flips:
            yield damage.flipped_bits(stage, options.flips)
        yield disk_faults.many_segments(stage, 2_000)
        if options.restores:
            yield restore_faults.database_restored(stage, options.restores)


def _damage(folder: Path) -> Iterator[Verdict]:
    whole = damage.segment_of(folder)
    last = len(whole) // damage.CLICKS
    yield Verdict("F19 the last record cut off", last, problems=damage.truncations(whole, folder))
    yield Verdict("F19 a bit flipped", 8 * len(whole), problems=damage.flips(whole, folder))
