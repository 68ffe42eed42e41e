"""An installation as the proof sees it: its database, its journal and its secret."""

from __future__ import annotations

import traceback
import uuid
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from common.http.urls import canonical_destination
from testing.proof.children import result_of

# For the clicks of a benchmark of some minutes.
AUDIT_SECONDS = 1_800
# The rules of each link. Clicks take one of them, or none.
BRANCHES = 3


@dataclass(frozen=True)
class Site:
    var_dir: Path
    url: str
    secret: str

    @property
    def clicks_dir(self) -> Path:
        return self.var_dir / "clicks"

    def reached_by(self, socket_dir: Path) -> Site:
        """The same site, with its database connections through a proxy."""
        address = urlsplit(self.url)
        account = (address.netloc or "").rpartition("@")[0]
        host = str(socket_dir).replace("/", "%2F")
        return Site(self.var_dir, address._replace(netloc=f"{account}@{host}:5432").geturl(), self.secret)

    def enter(self, sync: str = "process") -> None:
        """Point this child process's Django settings at the site."""
        settings.CLICKS_DIR = self.clicks_dir
        settings.CLICK_SYNC = sync
        settings.SECRET_KEY = self.secret
        parameters = dj_database_url.parse(self.url)
        for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT"):
            connection.settings_dict[name] = parameters[name]

    def rows(self, query: str) -> list[Any]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(query).fetchall()

    def audit(self) -> str:
        """The output of `manage.py audit_counters`, without the clicks that a restore has lost."""
        status, output = result_of(_audit, self, within=AUDIT_SECONDS)
        lines = output.splitlines(keepends=True)
        printed = "".join(line for line in lines if not line.startswith("segment "))
        if not printed or (status == 0) != (printed == "0 differences.\n"):
            return f"exit status {status}: {output}"
        return printed

    def backlog(self) -> int:
        """The uncounted bytes of the journal plus the pending records of the database."""
        counted = dict(self.rows('SELECT id, "offset" FROM analytics_segment'))
        waiting: int = self.rows("SELECT count(*) FROM analytics_pendingrecord")[0][0]
        for path in self.clicks_dir.glob("*.segment"):
            try:
                waiting += max(0, path.stat().st_size - counted.get(uuid.UUID(path.stem), 0))
            except FileNotFoundError:
                continue
        return waiting


def _audit(site: Site) -> tuple[int, str]:
    """The exit status and the output, from a child process: a new one would import everything again."""
    site.enter()
    output = StringIO()
    try:
        call_command("audit_counters", stdout=output)
    except SystemExit as end:
        return int(end.code or 0), output.getvalue()
    except Exception:
        return 1, output.getvalue() + traceback.format_exc()
    return 0, output.getvalue()


@dataclass(frozen=True)
class Links:
    """Link ids. Capped links never reach their cap."""

    free: list[int]
    capped: list[int]


def prepare(site: Site) -> Links:
    """Create the tables and some links in an empty database."""
    links: Links = result_of(_prepare, site)
    return links


def _prepare(site: Site) -> Links:
    site.enter()

    from accounts.services import create_account
    from events.feed import collect
    from events.types import EventType
    from links.models import Link
    from links.services import create_link
    from testing.analytics.branches import branch

    call_command("migrate", interactive=False, verbosity=0)
    owner = create_account(email="owner@proof.example", plan="enterprise").workspace
    collect(owner, [EventType.LINK_CLICKED])

    destination = canonical_destination("https://example.com/page")

    def link(**fields: Any) -> int:
        return create_link(owner=owner, destination=destination, **fields).pk

    links = Links(
        free=[link() for _ in range(8)],
        capped=[link(restrictions={"max_clicks": 1_000_000}) for _ in range(2)],
    )
    Link.objects.update(rules=[branch(number) for number in range(1, BRANCHES + 1)])
    return links
