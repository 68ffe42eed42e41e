"""Faults of the journal's disk, and damage in it. Visitors notice nothing, and every click is counted."""

from __future__ import annotations

import random
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.faults.result import Result
from local_postgres import EmbeddedPostgres
from testing.proof import damage
from testing.proof.clock_faults import ahead_and_back
from testing.proof.journal_faults import Stage
from testing.proof.site import Site, prepare
from testing.service.clients.visitors import Visitors
from testing.service.frozen import audit
from testing.service.hosts import make_folder
from testing.service.journal_disk import JournalDisk, why_none
from testing.service.running import Service, clicks_of, eventually

DESTINATION = "https://example.com/page"
FOLLOWED, FLIPS = 1_000, 20


def journal_read_only() -> Result:
    def mend(service: Service, disk: JournalDisk) -> None:
        service.stop()
        disk.repair()
        disk.start()
        eventually(service.is_healthy)

    return _unwritable("read-only", JournalDisk.fail, mend)


def journal_full() -> Result:
    return _unwritable("full", JournalDisk.fill, lambda service, disk: disk.free())


def _unwritable(
    fault: str, inject: Callable[[JournalDisk], None], mend: Callable[[Service, JournalDisk], None]
) -> Result:
    if reason := why_none():
        return Result(f"journal's disk {fault}: NOT TRIED, {reason}", [])
    problems = []
    service = Service(make_folder())
    try:
        disk = JournalDisk(service)
        disk.start()
        eventually(service.is_healthy)
        key = service.owner.api_key
        link = service.create_link(key)
        with Visitors(service.port, [link["shortCode"]], DESTINATION).running() as visitors:
            visitors.follow_more(FOLLOWED)
            inject(disk)
            visitors.follow_more(FOLLOWED)
            eventually(lambda: service.call("GET", "/readyz").status == 503)
            parts = service.call_internal("/readyz").json()
            if not parts["journal"].startswith("it cannot be written: "):
                problems.append(f"/readyz says {parts}")
            metrics = service.call_internal("/metrics").body.decode()
            for line in ("shortener_database_up 1.0", "shortener_journal_writable 0.0"):
                if line not in metrics:
                    problems.append(f"no metric {line}")
            visitors.follow_more(FOLLOWED)
        problems += visitors.failures
        eventually(lambda: clicks_of(service, key, link) >= visitors.followed)
        mend(service, disk)
        if (counted := clicks_of(service, key, link)) != visitors.followed:
            problems.append(f"{counted} clicks counted of {visitors.followed}")
        if (differences := audit(service)) != "0 differences.\n":
            problems.append(differences.strip())
    finally:
        service.end()
    return Result(f"journal's disk {fault}: {visitors.followed:,} links followed and counted", problems)


def bits_flipped() -> Result:
    folder = make_folder()
    try:
        with EmbeddedPostgres(folder).acquire():
            site = Site(folder, EmbeddedPostgres(folder).url, secrets.token_urlsafe(50))
            logs = folder / "logs"
            logs.mkdir()
            verdict = damage.flipped_bits(Stage(site, prepare(site), logs, random.Random()), FLIPS)
    finally:
        shutil.rmtree(folder)
    return Result(
        f"up to 4 bits flipped in each of {FLIPS} segments, then `drain_clicks --damaged`: {verdict.redirected:,}"
        f" redirects, {verdict.counted:,} counted once, {verdict.dropped} in damaged records",
        verdict.problems,
    )


def database_clock_ahead() -> Result:
    followed, problems = 0, []
    for with_hosts in (False, True):
        folder = make_folder()
        try:
            with EmbeddedPostgres(folder).acquire(), tempfile.TemporaryDirectory() as clock:
                clicks, wrong = ahead_and_back(
                    EmbeddedPostgres(folder).url, Path(clock), with_hosts=with_hosts
                )
        finally:
            shutil.rmtree(folder)
        followed += clicks
        problems += wrong
    return Result(
        f"the database's clock 40 days ahead and back, alone and with the hosts': {followed} clicks in every total",
        problems,
    )
