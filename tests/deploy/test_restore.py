"""The backup of docs/deployment.md is taken while the service runs and restored into another database."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from testing.service.hosts import SECRET_KEY
from testing.service.limits import LONG_TIMEOUTS
from testing.service.postgresql.databases import run_program
from testing.service.running import Service, clicks_of, eventually
from testing.visitors.agents import FIREFOX

pytestmark = pytest.mark.slow


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return tmp_path / "shortener.dump"


def contents(connection: psycopg.Connection) -> dict[str, str]:
    """A digest of the rows of each table, partitions by their own names."""
    names = connection.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    ).fetchall()
    digests = {}
    for (name,) in names:
        query = "SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '')) FROM {} t"
        row = connection.execute(sql.SQL(query).format(sql.Identifier(name))).fetchone()
        assert row is not None
        digests[name] = row[0]
    return digests


def dump_with_contents(url: str, dump: Path) -> dict[str, str]:
    """Dump the database while background processes of a service may write to it. Return what the dump contains."""
    with psycopg.connect(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        row = connection.execute("SELECT pg_export_snapshot()").fetchone()
        assert row is not None
        run_program("pg_dump", "--format=custom", f"--snapshot={row[0]}", f"--file={dump}", url)
        return contents(connection)


def audit(service: Service) -> tuple[int, str]:
    done = service.manage("audit_counters")
    return done.returncode, done.stdout


def lost_bytes(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT coalesce(sum(size), 0)::bigint FROM analytics_journalloss"
        ).fetchone()
    assert row is not None
    return int(row[0])


def test_a_restored_database_equals_the_dump_and_serves(
    make_database: Callable[[], str],
    make_empty_database: Callable[[], str],
    make_service: Callable[..., Service],
    dump: Path,
) -> None:
    lost, restored = make_database(), make_empty_database()
    service = make_service(DATABASE_URL=lost, SECRET_KEY=SECRET_KEY, **LONG_TIMEOUTS)
    service.start()
    owner = service.owner
    link = service.create_link(owner.api_key, customCode="printed", title="Łódź ✓")
    limited = service.create_link(owner.api_key, restrictions={"maxClicks": 3})
    guarded = service.create_link(owner.api_key, password="only for friends")
    for _ in range(10):
        assert service.call("GET", "/printed").status == 302
    assert service.call("GET", f"/{limited['shortCode']}").status == 302
    eventually(lambda: clicks_of(service, owner.api_key, link) == 10)
    eventually(lambda: clicks_of(service, owner.api_key, limited) == 1)

    before = dump_with_contents(lost, dump)
    service.stop()
    run_program("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={restored}", dump)
    with psycopg.connect(restored) as connection:
        assert contents(connection) == before

    # The same host, with its journal, on the other database.
    service.environment["DATABASE_URL"] = restored
    service.start()
    assert "e-mail" not in service.stdout
    assert audit(service) == (0, "0 differences.\n")
    assert lost_bytes(restored) == 0

    followed = service.call("GET", "/printed")
    assert (followed.status, followed.headers["Location"]) == (302, "https://example.com/page")
    assert [service.call("GET", f"/{limited['shortCode']}").status for _ in range(3)] == [302, 302, 410]
    assert service.call("GET", f"/{guarded['shortCode']}").status == 401
    eventually(lambda: clicks_of(service, owner.api_key, link) == 11)
    # The visitors of the day and the texts of the clicks came back, too.
    report, log = (
        service.call("GET", f"/api/analytics/{link['_id']}{part}", X_API_Key=owner.api_key).json()["data"]
        for part in ("", "/clicks")
    )
    assert (report["totalClicks"], report["uniqueClicks"]) == (11, 1)
    assert [click["browser"] for click in log["clicks"]] == ["Firefox"] * 11
    # The key is found by its digest, and its sealed copy opens with the same SECRET_KEY.
    token = service.call(
        "POST", "/api/auth/login", {"email": owner.email, "password": owner.password}
    ).json()["token"]
    shown = service.call("GET", "/api/auth/api-key", Authorization=f"Bearer {token}", User_Agent=FIREFOX)
    assert shown.json()["apiKey"] == owner.api_key


def test_an_older_dump_loses_only_the_clicks_counted_since(
    make_database: Callable[[], str],
    make_empty_database: Callable[[], str],
    make_service: Callable[..., Service],
    dump: Path,
) -> None:
    lost, restored = make_database(), make_empty_database()
    service = make_service(DATABASE_URL=lost, SECRET_KEY=SECRET_KEY, **LONG_TIMEOUTS)
    service.start()
    owner = service.owner
    link = service.create_link(owner.api_key, customCode="printed")

    def follow(times: int) -> None:
        assert [service.call("GET", "/printed").status for _ in range(times)] == [302] * times

    follow(10)
    eventually(lambda: clicks_of(service, owner.api_key, link) == 10)
    run_program("pg_dump", "--format=custom", f"--file={dump}", lost)
    # Counted and overwritten after the dump, in the same segment and in a deleted one: these are lost.
    follow(7)
    eventually(lambda: clicks_of(service, owner.api_key, link) == 17)
    first = set(segments(service))
    service.stop()
    service.start()
    follow(5)
    eventually(lambda: clicks_of(service, owner.api_key, link) == 22)
    # The drainer deletes and overwrites after the commit that shows the clicks.
    eventually(lambda: first.isdisjoint(segments(service)) and not holds_records(service))
    # Redirected while no drainer runs, and then without a database.
    drainer = service.child("drain_clicks")
    os.kill(drainer, signal.SIGSTOP)
    follow(20)
    assert holds_records(service)
    service.kill_everything()
    run_program("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={restored}", dump)

    service.environment["DATABASE_URL"] = restored
    service.start()
    eventually(lambda: clicks_of(service, owner.api_key, link) == 30)
    follow(3)
    eventually(lambda: clicks_of(service, owner.api_key, link) == 33)
    assert list((service.var_dir / "clicks").glob("*.damaged")) == []
    status, output = audit(service)
    *losses, differences = output.splitlines()
    assert (status, differences) == (0, "0 differences.")
    assert len(losses) == 2
    # A click of these tests is shorter than 256 bytes, and longer than its fixed fields.
    assert 12 * 30 < lost_bytes(restored) < 12 * 256
    assert f"shortener_journal_lost_bytes {float(lost_bytes(restored))}" in metrics(service)
    assert service.stderr.count("are empty, and this database has not counted the clicks") == 2


def segments(service: Service) -> list[Path]:
    return list((service.var_dir / "clicks").glob("*.segment"))


def holds_records(service: Service) -> bool:
    return any(segment.read_bytes().strip(b"\0") for segment in segments(service))


def metrics(service: Service) -> str:
    return service.call_internal("/metrics").body.decode()
