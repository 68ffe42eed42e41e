"""F20: the database is lost and restored from a dump that is older than the journal."""

from __future__ import annotations

import signal
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from testing.proof import children
from testing.proof.drainers import drain
from testing.proof.journal_faults import CLICKS, Stage, expect
from testing.proof.site import Site
from testing.proof.verdict import Log, Verdict, counted_clicks, judge
from testing.proof.writers import write
from testing.service.postgresql.databases import run_program


def database_restored(stage: Stage, repeats: int) -> Verdict:
    """Clicks counted since the dump are lost; clicks still in the journals must be counted exactly once."""
    log, dropped, reported = Log(), 0, _lost_bytes(stage.site)
    problems = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            dump = Path(folder) / "dump"
            _write(stage, log, die=stage.random.random() < 0.5)
            expect(children.end_of(children.start(drain, stage.site)), 0)
            before = counted_clicks(stage.site, log)
            run_program("pg_dump", "--format=custom", f"--file={dump}", stage.site.url)
            redirected_before = set(log.redirected)
            for _ in range(stage.random.randint(0, 2)):
                _write(stage, log, die=stage.random.random() < 0.5)
            if stage.random.random() < 0.7:
                # It dies with a segment half counted, or counted but not wiped or not deleted.
                point = stage.random.choice([None, "after COMMIT", "after the wipe", "before COMMIT"])
                children.end_of(children.start(drain, stage.site, point=point))
            _write(stage, log, die=stage.random.random() < 0.5)
            # Clicks of capped links are stored in the database only.
            claimed = {
                identity
                for identity in log.redirected - redirected_before
                if log.sent[identity] in stage.links.capped
            }
            wiped = counted_clicks(stage.site, log) - before - _in_journal(stage.site) - claimed
            dropped += len(wiped | claimed)
            _lose_and_restore(stage.site, dump)
            stage.drain_all()
            if (_lost_bytes(stage.site) > reported) != bool(wiped):
                problems.append(f"{len(wiped)} clicks were wiped, {_lost_bytes(stage.site)} bytes reported")
            reported = _lost_bytes(stage.site)
    stage.drain_all()
    verdict = judge("F20 restored from an older dump", repeats, stage.site, log, dropped=dropped)
    verdict.problems += problems
    return verdict


def _write(stage: Stage, log: Log, *, die: bool) -> None:
    path = stage.log()
    writer = children.start(write, stage.site, stage.links, path, CLICKS, die=die)
    expect(children.end_of(writer), -signal.SIGKILL if die else 0)
    log.read(path)


def _in_journal(site: Site) -> set[str]:
    """The clicks with a record in some segment, counted or not."""
    marker = b"https://proof.example/"
    identities = set()
    for path in site.clicks_dir.glob("*.segment"):
        for rest in path.read_bytes().split(marker)[1:]:
            identities.add(rest[:36].decode())
    return identities


def _lose_and_restore(site: Site, dump: Path) -> None:
    address = urlsplit(site.url)
    name = sql.Identifier(address.path.lstrip("/"))
    with psycopg.connect(address._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
        server.execute(sql.SQL("CREATE DATABASE {}").format(name))
    run_program("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={site.url}", str(dump))


def _lost_bytes(site: Site) -> int:
    total: int = site.rows("SELECT coalesce(sum(size), 0)::bigint FROM analytics_journalloss")[0][0]
    return total
