"""Faults of the data: a restore from an old dump, a wrong clock, and a dump that holds its locks for a long time."""

from __future__ import annotations

import random
import secrets
import shutil
import threading
import time

import psycopg

from bench.faults.result import Result
from bench.harness.tools import require
from local_postgres import EmbeddedPostgres
from testing.proof import restore_faults
from testing.proof.journal_faults import Stage
from testing.proof.site import Site, prepare
from testing.service.frozen import audit, follow
from testing.service.hosts import make_folder, started
from testing.service.housekeeping import housekeeping_at, housekeeping_once
from testing.service.running import clicks_of, eventually

RESTORES, CLICKS, AHEAD_DAYS = 5, 50, 400
RETENTION = {"CLICK_RETENTION_DAYS": "90"}
OLD_PARTITION = "analytics_rawclick_2020_02"
# Since 1970, of the first of February and of March.
OLD_MINUTES = 26_341_920, 26_383_680


def database_restored() -> Result:
    folder = make_folder()
    try:
        with EmbeddedPostgres(folder).acquire():
            site = Site(folder, EmbeddedPostgres(folder).url, secrets.token_urlsafe(50))
            logs = folder / "logs"
            logs.mkdir()
            stage = Stage(site, prepare(site), logs, random.Random())
            verdict = restore_faults.database_restored(stage, RESTORES)
    finally:
        shutil.rmtree(folder)
    return Result(
        f"database restored {RESTORES} times from an older dump: {verdict.redirected:,} redirects,"
        f" {verdict.counted:,} counted once, {verdict.dropped} reported as lost because no journal had them",
        verdict.problems,
    )


def clock_ahead() -> Result:
    require("faketime")
    problems = []
    with started() as service:
        key = service.owner.api_key
        link = service.create_link(key)
        follow(service, link, CLICKS)
        eventually(lambda: clicks_of(service, key, link) == CLICKS)
        done = housekeeping_at(f"+{AHEAD_DAYS}d", service.environment | RETENTION)
        if done.returncode:
            problems.append(f"housekeeping failed: {done.stderr.splitlines()[-1]}")
        if "ahead of the database's" not in done.stderr:
            problems.append("the host did not report its clock")
        with psycopg.connect(EmbeddedPostgres(service.var_dir).url) as database:
            stored = len(database.execute("SELECT FROM analytics_click").fetchall())
        if stored != CLICKS:
            problems.append(f"{CLICKS - stored} clicks deleted")
        if (differences := audit(service)) != "0 differences.\n":
            problems.append(differences.strip())
    return Result(
        f"housekeeping once with a clock {AHEAD_DAYS} days ahead and 90 days of retention: {stored} of {CLICKS}"
        " clicks kept",
        problems,
    )


def partition_locked() -> Result:
    """Lock the clicks like pg_dump while housekeeping tries to drop a partition."""
    problems = []
    with started() as service, psycopg.connect(EmbeddedPostgres(service.var_dir).url) as dump:
        key, url = service.owner.api_key, EmbeddedPostgres(service.var_dir).url
        link = service.create_link(key)
        with psycopg.connect(url) as database:
            database.execute(
                f"CREATE TABLE {OLD_PARTITION} PARTITION OF analytics_rawclick"
                f" FOR VALUES FROM ({OLD_MINUTES[0]}) TO ({OLD_MINUTES[1]})"
            )
        dump.execute("LOCK TABLE analytics_rawclick IN ACCESS SHARE MODE")
        environment = service.environment | RETENTION
        housekeeping = threading.Thread(target=housekeeping_once, args=(environment,))
        housekeeping.start()
        sent, longest = 0, 0.0
        while housekeeping.is_alive() or sent < CLICKS:
            started_at = time.monotonic()
            follow(service, link, 1)
            sent += 1
            # This never succeeds unless the drainer counts while the lock is held.
            eventually(lambda sent=sent: clicks_of(service, key, link) == sent)
            longest = max(longest, time.monotonic() - started_at)
        housekeeping.join()
        with psycopg.connect(url, autocommit=True) as database:
            if not _exists(database):
                problems.append("the partition was dropped under the dump")
            dump.rollback()
            housekeeping_once(environment)
            if _exists(database):
                problems.append("the partition was not dropped after the dump")
    return Result(
        f"a dump held its locks while a partition was due: {sent} clicks counted meanwhile", problems
    )


def _exists(database: psycopg.Connection[tuple[object, ...]]) -> bool:
    return database.execute("SELECT to_regclass(%s)", [OLD_PARTITION]).fetchone() != (None,)
