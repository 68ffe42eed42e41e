"""The backup of docs/deployment.md, taken while the service runs and restored into another database."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from shortener_project.embedded_postgres.binaries import find_binaries
from tests.conftest import FIREFOX
from tests.service.hosts import SECRET_KEY
from tests.service.running import REPOSITORY, Service, eventually


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return tmp_path / "shortener.dump"


def run(program: str, *arguments: str | Path) -> None:
    subprocess.run([find_binaries().folder / program, *arguments], check=True)


def contents(url: str) -> dict[str, str]:
    """A digest of the rows of each table, partitions by their own names."""
    with psycopg.connect(url) as connection:
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


def clicks_of(service: Service, api_key: str, link: dict[str, str]) -> int:
    answer = service.ask("GET", f"/api/urls/{link['_id']}", X_API_Key=api_key)
    clicks: int = answer.json()["data"]["url"]["clickCount"]
    return clicks


@pytest.mark.timeout(300)
def test_what_is_restored_is_what_was_dumped_and_serves(
    make_database: Callable[[], str], make_service: Callable[..., Service], dump: Path
) -> None:
    lost, restored = make_database(), make_database()
    service = make_service(DATABASE_URL=lost, SECRET_KEY=SECRET_KEY)
    service.start()
    owner = service.owner
    link = service.create_link(owner.api_key, customCode="printed", title="Łódź ✓")
    limited = service.create_link(owner.api_key, restrictions={"maxClicks": 3})
    guarded = service.create_link(owner.api_key, password="only for friends")
    for _ in range(10):
        assert service.ask("GET", "/printed").status == 302
    assert service.ask("GET", f"/{limited['shortCode']}").status == 302
    eventually(lambda: clicks_of(service, owner.api_key, link) == 10)
    eventually(lambda: clicks_of(service, owner.api_key, limited) == 1)

    run("pg_dump", "--format=custom", f"--file={dump}", lost)
    before = contents(lost)
    service.stop()
    run("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={restored}", dump)
    assert contents(restored) == before

    # The same host, with its journal, on the other database.
    service.environment["DATABASE_URL"] = restored
    service.start()
    assert "e-mail" not in service.stdout
    audit = subprocess.run(
        [sys.executable, "manage.py", "audit_counters"],
        cwd=REPOSITORY,
        env=service.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (audit.returncode, audit.stdout) == (0, "0 differences.\n")

    followed = service.ask("GET", "/printed")
    assert (followed.status, followed.headers["Location"]) == (302, "https://example.com/page")
    assert [service.ask("GET", f"/{limited['shortCode']}").status for _ in range(3)] == [302, 302, 410]
    assert service.ask("GET", f"/{guarded['shortCode']}").status == 401
    eventually(lambda: clicks_of(service, owner.api_key, link) == 11)
    # The key is found by its digest, and its sealed copy opens with the same SECRET_KEY.
    token = service.ask("POST", "/api/auth/login", {"email": owner.email, "password": owner.password}).json()[
        "token"
    ]
    shown = service.ask("GET", "/api/auth/api-key", Authorization=f"Bearer {token}", User_Agent=FIREFOX)
    assert shown.json()["apiKey"] == owner.api_key
