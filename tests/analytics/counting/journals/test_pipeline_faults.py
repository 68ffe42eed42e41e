"""Kills, cut connections and full disks between journal and tables. `make prove-clicks` repeats these more often."""

from __future__ import annotations

import os
import random
import secrets
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from testing.proof import children, damage, disk_faults, journal_faults, restore_faults
from testing.proof.drainers import POINTS, drain
from testing.proof.journal_faults import Stage
from testing.proof.site import Site, prepare
from testing.proof.verdict import Verdict, judge
from testing.proof.writers import write_apart, write_on_failing_disk
from testing.service.running import eventually

pytestmark = pytest.mark.slow

# Of this database only: other tests use the same server.
WAITING_SESSIONS = (
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    server = os.environ["DATABASE_URL"]
    name = f"faults_{secrets.token_hex(6)}"
    identifier = sql.Identifier(name)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(identifier))
    with tempfile.TemporaryDirectory(prefix="shortener-faults-") as folder:
        url = urlsplit(server)._replace(path=f"/{name}").geturl()
        site = Site(Path(folder) / "var", url, secrets.token_urlsafe(50))
        yield Stage(site, prepare(site), Path(folder), random.Random(5))
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(identifier))


def segments(stage: Stage) -> set[uuid.UUID]:
    return {uuid.UUID(path.stem) for path in stage.site.clicks_dir.glob("*.segment")}


def assert_counted_once(verdict: Verdict) -> None:
    assert verdict.problems == [], str(verdict)
    assert verdict.redirected + verdict.dropped > 0


@pytest.mark.parametrize("point", POINTS)
def test_killed_drainer_counts_every_click_once(stage: Stage, point: str) -> None:
    assert_counted_once(journal_faults.drainer_killed_at(stage, point, 1))


def test_verdict_detects_lost_and_double_counted_clicks(stage: Stage) -> None:
    log = children.result_of(write_apart, stage.site, stage.links, 2)
    stage.drain_all()
    lost, twice = "never-recorded", next(iter(log.sent))
    log.sent[lost] = stage.links.free[0]
    log.redirected.add(lost)
    columns = "link_id, microsecond, client, place, referrer, reason, branch, kind, scanned, is_unique"
    with psycopg.connect(stage.site.url) as connection:
        connection.execute(
            "INSERT INTO analytics_clicktext SELECT 0, number, text FROM analytics_clicktext; "
            f"INSERT INTO analytics_rawclick (minute, {columns}) SELECT 0, {columns} FROM analytics_rawclick"
            f" WHERE referrer IN (SELECT number FROM analytics_clicktext WHERE text LIKE '%{twice}')"
        )
    try:
        verdict = judge("", 1, stage.site, log)
    finally:
        with psycopg.connect(stage.site.url) as connection:
            connection.execute("DELETE FROM analytics_rawclick WHERE minute = 0")
    assert (verdict.redirected, verdict.counted, verdict.lost, verdict.twice) == (3, 3, 1, 1)
    *problems, audit = verdict.problems
    assert problems == [
        "1 redirected, but not counted", "1 counted twice", "1 links whose counter is not their number of clicks",
        "1 counted, and without an event",
    ]  # fmt: skip
    assert audit.splitlines()[0] == f"link {log.sent[twice]} 1970-01-01: day 0, clicks 1"


def test_concurrent_drainers_count_every_click_once(stage: Stage) -> None:
    assert_counted_once(journal_faults.drainers_at_once(stage, 2))


def test_commit_of_unknown_outcome_counts_every_click_once(stage: Stage) -> None:
    assert_counted_once(journal_faults.commit_unknown(stage, 5))


def test_full_journal_disk_diverts_clicks_to_the_database(stage: Stage) -> None:
    assert_counted_once(disk_faults.journal_full(stage, 60, reachable=True))


def test_clicks_without_journal_and_database_are_counted_as_dropped(stage: Stage) -> None:
    assert_counted_once(disk_faults.journal_full(stage, 60, reachable=False))


def test_failing_disk_loses_no_click_that_another_segment_holds(stage: Stage) -> None:
    assert_counted_once(disk_faults.disk_fails(stage, 6))


def test_every_click_behind_flipped_bits_is_counted_once(stage: Stage) -> None:
    assert_counted_once(damage.flipped_bits(stage, 4))


def test_restored_database_counts_the_clicks_left_in_the_journal(stage: Stage) -> None:
    assert_counted_once(restore_faults.database_restored(stage, 2))


def test_more_segments_than_open_files_are_counted(stage: Stage) -> None:
    assert_counted_once(disk_faults.many_segments(stage, 500))


def test_drainer_killed_while_reading_rewritten_records_loses_no_click(
    stage: Stage,
) -> None:
    before = segments(stage)
    log = children.result_of(
        write_on_failing_disk, stage.site, stage.links, 3, sync="strict", call="fdatasync", first=3
    )
    first, _ = sorted(segments(stage) - before)
    with psycopg.connect(stage.site.url) as dying:
        dying.execute("INSERT INTO analytics_segment (id) VALUES (%s)", [first])
        dying.commit()
        dying.execute("SELECT FROM analytics_segment WHERE id = %s FOR UPDATE", [first])
        drainer = children.start(drain, stage.site)
        eventually(lambda: drainer.exitcode is not None or stage.site.rows(WAITING_SESSIONS))
        dying.rollback()
    assert children.end_of(drainer) == 0
    stage.drain_all()
    assert_counted_once(judge("", 1, stage.site, log))
