"""An installation as the proof sees it: its database, its journal and its secret."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import psycopg

from bench.proof.children import result_of

PROJECT_DIR = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Site:
    var_dir: Path
    url: str
    secret: str

    @property
    def clicks_dir(self) -> Path:
        return self.var_dir / "clicks"

    def reached_by(self, socket_dir: Path) -> Site:
        """The same by way of a proxy."""
        address = urlsplit(self.url)
        account = (address.netloc or "").rpartition("@")[0]
        host = str(socket_dir).replace("/", "%2F")
        return Site(self.var_dir, address._replace(netloc=f"{account}@{host}:5432").geturl(), self.secret)

    def enter(self, sync: str = "process") -> None:
        """In a child: everything that Django does from now on is done here."""
        from django.conf import settings  # noqa: PLC0415 # the parent of the children need not have Django
        from django.db import connection  # noqa: PLC0415

        settings.CLICKS_DIR = self.clicks_dir
        settings.CLICK_SYNC = sync
        settings.SECRET_KEY = self.secret
        wanted = dj_database_url.parse(self.url)
        for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT"):
            connection.settings_dict[name] = wanted[name]

    def rows(self, query: str) -> list[Any]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(query).fetchall()

    def audit(self) -> str:
        """What `manage.py audit_counters` prints."""
        environment = {
            "PATH": os.environ["PATH"],
            "VAR_DIR": str(self.var_dir),
            "DATABASE_URL": self.url,
            "SECRET_KEY": self.secret,
        }
        command = [sys.executable, "manage.py", "audit_counters"]
        done = subprocess.run(
            command, cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, check=False
        )
        if (done.returncode == 0) != (done.stdout == "0 differences.\n"):
            return f"exit status {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def backlog(self) -> int:
        """Bytes of the journal and records of the database that are not counted yet."""
        counted = dict(self.rows('SELECT id, "offset" FROM analytics_segment'))
        waiting: int = self.rows("SELECT count(*) FROM analytics_pendingrecord")[0][0]
        for path in self.clicks_dir.glob("*.segment"):
            try:
                waiting += max(0, path.stat().st_size - counted.get(uuid.UUID(path.stem), 0))
            except FileNotFoundError:
                continue
        return waiting


@dataclass(frozen=True)
class Links:
    """By their numbers. Those that are capped take many clicks."""

    free: list[int]
    capped: list[int]


def prepare(site: Site) -> Links:
    """Makes the tables and some links in an empty database."""
    links: Links = result_of(_prepare, site)
    return links


def _prepare(site: Site) -> Links:
    site.enter()
    from django.core.management import call_command  # noqa: PLC0415

    from accounts.services import create_account  # noqa: PLC0415
    from links.services import create_link  # noqa: PLC0415

    call_command("migrate", interactive=False, verbosity=0)
    owner = create_account(email="owner@proof.example", plan="enterprise").user

    def link(**fields: Any) -> int:
        return create_link(owner=owner, original_url="https://example.com/page", **fields).pk

    return Links(
        free=[link() for _ in range(8)],
        capped=[link(restrictions={"maxClicks": 1_000_000}) for _ in range(2)],
    )
