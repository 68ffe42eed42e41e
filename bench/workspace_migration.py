"""python -m bench.workspace_migration [--links N]: the migration of an installation to workspaces, in use.

The service runs all the time. The database goes back to the schema in which accounts owned links, gets N links, and is
migrated while visitors follow links that are not in memory, and while links are inserted as the former release did.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import psycopg

from bench.harness.results import PROJECT_DIR, record
from bench.harness.running import installation, site_of
from bench.harness.stack import service_folder
from testing.proof.site import Site
from testing.service.running import Connection, Service

_FORMER = ("accounts", "0001_initial")
# Without the triggers, which maintain tables that the migration does not touch.
_LOAD = """
SET session_replication_role = replica;
WITH link AS (
    INSERT INTO links_link (
        public_id, owner_id, short_code, original_url, destination, tags, tag_keys, is_active, utm, allowed_countries,
        blocked_countries, allowed_devices, redirect_type
    )
    SELECT gen_random_uuid(), (SELECT min(id) FROM accounts_user), 'moved' || n, 'https://example.com/' || n,
        'https://example.com/' || n, '{}', '{}', true, '{}', '{}', '{}', '{}', 302
    FROM generate_series(1, %s) n RETURNING id, owner_id, short_code
), counter AS (
    INSERT INTO links_clickcounter (link_id, owner_id, clicks) SELECT id, owner_id, 0 FROM link
)
INSERT INTO links_code (domain_id, code, kind, link_id) SELECT NULL, short_code, 'short', id FROM link;
SET session_replication_role = DEFAULT;
ANALYZE links_link, links_code, links_clickcounter
"""
_INSERT = """
INSERT INTO links_link (
    public_id, owner_id, short_code, original_url, destination, tags, tag_keys, is_active, utm, allowed_countries,
    blocked_countries, allowed_devices, redirect_type
)
SELECT gen_random_uuid(), min(id), 'new' || clock_timestamp(), 'https://example.com/', 'https://example.com/', '{}',
    '{}', true, '{}', '{}', '{}', '{}', 302
FROM accounts_user
"""
# A rewritten row would have another place, and another transaction that created it.
_FINGERPRINT = """
SELECT count(*), sum(hashtext(ctid::text || xmin::text)::bigint) FROM links_link WHERE short_code ^@ 'moved'
"""


class Repeated:
    """Calls a function in a thread, again and again, and keeps its results and the longest time of a call."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self.results: Counter[object] = Counter()
        self.longest = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        stopped = threading.Event()
        thread = threading.Thread(target=self._repeat, args=[stopped])
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()

    def _repeat(self, stopped: threading.Event) -> None:
        while not stopped.is_set():
            started = time.perf_counter()
            try:
                self.results[self._call()] += 1
            except Exception as error:  # each kind is counted
                self.results[repr(error)] += 1
            self.longest = max(self.longest, time.perf_counter() - started)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=1_000_000)
    options = parser.parse_args()
    with service_folder() as folder, installation(folder) as service:
        return _run(service, options.links)


def _run(service: Service, links: int) -> int:
    site = site_of(service)
    _migrate(site, *_FORMER)
    with psycopg.connect(site.url, autocommit=True) as connection:
        for statement in _LOAD.split(";"):
            connection.execute(statement, [links] if "%s" in statement else None)
    chance = random.Random(1)
    with closing(Connection(service.port)) as visitor, psycopg.connect(site.url, autocommit=True) as former:
        redirects = Repeated(lambda: visitor.call("GET", f"/moved{chance.randint(1, links)}").status)
        inserts = Repeated(lambda: former.execute(_INSERT).rowcount)
        before = site.rows(_FINGERPRINT)
        with redirects.running(), inserts.running():
            started = time.perf_counter()
            _migrate(site)
            seconds = time.perf_counter() - started
        after = site.rows(_FINGERPRINT)
    print(f"{links:,} links migrated in {seconds:.1f} s, with the start of Python")
    for name, repeated in (("redirects", redirects), ("insertions", inserts)):
        results = dict(repeated.results)
        print(f"  {name} meanwhile: {results}, the longest {repeated.longest * 1000:,.0f} ms")
    print(f"  rows of the links unchanged in place: {before == after}")
    record(
        "workspace-migration",
        f"{seconds:.1f} s; the longest redirect {redirects.longest * 1000:,.0f} ms",
    )
    return 0 if set(redirects.results) == {302} and set(inserts.results) == {1} and before == after else 1


def _migrate(site: Site, *target: str) -> None:
    environment = os.environ | {
        "DATABASE_URL": site.url,
        "SECRET_KEY": site.secret,
        "VAR_DIR": str(site.var_dir),
    }
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", *target]
    subprocess.run(command, cwd=PROJECT_DIR, env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
