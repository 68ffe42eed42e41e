"""What is killed, cut or full between a click's record and the tables; `make prove-clicks` repeats it more often."""

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

from bench.proof import children, disk_faults, journal_faults
from bench.proof.drainers import POINTS, drain
from bench.proof.journal_faults import Stage
from bench.proof.site import Site, prepare
from bench.proof.verdict import Verdict, judge
from bench.proof.writers import write_apart, write_on_failing_disk
from tests.service.running import eventually


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    server = os.environ["DATABASE_URL"]
    name = f"faults_{secrets.token_hex(6)}"
    identifier = sql.Identifier(name)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(identifier))
    with tempfile.TemporaryDirectory(prefix="shortener-faults-") as folder:
        site = Site(Path(folder) / "var", urlsplit(server)._replace(path=f"/{name}").geturl(), "s" * 50)
        yield Stage(site, prepare(site), Path(folder), random.Random(5))
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(identifier))


def segments(stage: Stage) -> set[uuid.UUID]:
    return {uuid.UUID(path.stem) for path in stage.site.clicks_dir.glob("*.segment")}


def check(verdict: Verdict) -> None:
    assert verdict.problems == [], str(verdict)
    assert verdict.answered + verdict.dropped > 0


@pytest.mark.parametrize("point", POINTS)
def test_a_drainer_that_is_killed_anywhere_counts_nothing_twice_and_loses_nothing(
    stage: Stage, point: str
) -> None:
    check(journal_faults.drainer_killed_at(stage, point, 1))


def test_what_is_lost_or_counted_twice_is_seen(stage: Stage) -> None:
    log = children.result_of(write_apart, stage.site, stage.links, 2)
    stage.drain_all()
    lost, twice = "never-recorded", next(iter(log.sent))
    log.sent[lost] = stage.links.free[0]
    log.answered.add(lost)
    columns = "link_id, kind, reason, country, city, device, browser, operating_system, referrer"
    with psycopg.connect(stage.site.url) as connection:
        connection.execute(
            f"INSERT INTO analytics_click (time, {columns}) "
            f"SELECT 'epoch', {columns} FROM analytics_click WHERE referrer LIKE %s",
            [f"%{twice}"],
        )
    verdict = judge("", 1, stage.site, log)
    assert (verdict.answered, verdict.counted, verdict.lost, verdict.twice) == (3, 3, 1, 1)
    *problems, audit = verdict.problems
    assert problems == [
        "1 answered, but not counted", "1 counted twice", "1 links whose counter is not their number of clicks",
    ]  # fmt: skip
    assert audit.splitlines()[0] == f"link {log.sent[twice]} 1970-01-01: day 0, clicks 1"
    with psycopg.connect(stage.site.url) as connection:
        connection.execute("DELETE FROM analytics_click WHERE time = 'epoch'")


def test_drainers_at_once_share_the_clicks(stage: Stage) -> None:
    check(journal_faults.drainers_at_once(stage, 2))


def test_a_commit_whose_outcome_is_unknown_is_neither_repeated_nor_forgotten(stage: Stage) -> None:
    check(journal_faults.commit_unknown(stage, 5))


def test_clicks_that_the_journal_has_no_room_for_are_counted_through_the_database(stage: Stage) -> None:
    check(disk_faults.journal_full(stage, 60, reachable=True))


def test_clicks_that_can_be_kept_nowhere_are_counted_as_dropped(stage: Stage) -> None:
    check(disk_faults.journal_full(stage, 60, reachable=False))


def test_a_disk_that_fails_loses_nothing_that_another_segment_can_keep(stage: Stage) -> None:
    check(disk_faults.disk_fails(stage, 6))


def test_more_segments_than_open_files_are_counted_in_turns(stage: Stage) -> None:
    check(disk_faults.many_segments(stage, 500))


def test_what_a_failing_disk_had_kept_is_not_forgotten_when_the_drainer_that_reads_it_dies(
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
        eventually(
            lambda: drainer.exitcode is not None or stage.site.rows("SELECT FROM pg_locks WHERE NOT granted")
        )
        dying.rollback()
    assert children.end_of(drainer) == 0
    stage.drain_all()
    check(judge("", 1, stage.site, log))
