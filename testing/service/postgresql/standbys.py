"""A primary and its streaming standbys, each a separate PostgreSQL server."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from local_postgres import EmbeddedPostgres
from local_postgres.account import server_account
from local_postgres.binaries import find_binaries, readable_binaries
from local_postgres.layout import Layout
from testing.service.hosts import make_folder
from testing.service.running import eventually

_OPTIONS = {"wal_level": "replica", "max_wal_senders": "6", "hot_standby": "on"}


class Pair:
    """``url`` names both servers and connects to the writable one."""

    def __init__(self, primary: EmbeddedPostgres, standby: EmbeddedPostgres) -> None:
        self.primary, self.standby = primary, standby
        account, _, host = urlsplit(primary.url).netloc.rpartition("@")
        other = urlsplit(standby.url).netloc.rpartition("@")[2]
        self.url = urlsplit(primary.url)._replace(netloc=f"{account}@{host},{other}").geturl()

    def wait_for_standby(self) -> None:
        """Wait until the primary's commits are synchronous with the standby."""
        with psycopg.connect(self.primary.url, autocommit=True) as database:
            database.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            database.execute("SELECT pg_reload_conf()")
            query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
            eventually(lambda: database.execute(query).fetchone() == (1,))
            # Commits wait as soon as the checkpointer has read the setting, which it does before a checkpoint.
            database.execute("CHECKPOINT")

    def kill_primary(self) -> None:
        self.kill(self.primary)

    def kill(self, server: EmbeddedPostgres) -> None:
        pid = server.pid
        assert pid is not None
        os.kill(pid, signal.SIGQUIT)
        eventually(lambda: server.pid is None)

    def stop_standby(self) -> None:
        pid = self.standby.pid
        assert pid is not None
        os.kill(pid, signal.SIGINT)
        eventually(lambda: self.standby.pid is None)

    def promote(self) -> None:
        """Promote the standby. Its commits do not wait for another standby."""
        with psycopg.connect(self.standby.url, autocommit=True) as database:
            database.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
            database.execute("SELECT pg_promote()")


@contextmanager
def primary_and_standby() -> Iterator[Pair]:
    with primary_and_standbys(1, fsync="off") as (primary, standby):
        yield Pair(primary, standby)


@contextmanager
def primary_and_standbys(count: int, **options: str) -> Iterator[list[EmbeddedPostgres]]:
    """The primary comes first. ``options`` are settings of each server."""
    folders = [make_folder() for _ in range(1 + count)]
    with ExitStack() as stack:
        for folder in folders:
            stack.callback(shutil.rmtree, folder)
        servers = [EmbeddedPostgres(folder, options=_OPTIONS | options) for folder in folders]
        stack.enter_context(servers[0].acquire())
        for folder, standby in zip(folders[1:], servers[1:], strict=True):
            _copy(Layout(folders[0]), Layout(folder))
            stack.enter_context(standby.acquire())
        yield servers


def _copy(primary: Layout, standby: Layout) -> None:
    shutil.copy2(primary.password_file, standby.password_file)
    # Only the account of the primary can enter the folder of its socket.
    account = server_account(primary.data)
    standby.make_server_dir(account)
    # The account may not create a folder there, only fill an existing one.
    standby.data.mkdir(mode=0o700)
    account.chown(standby.data)
    programs = readable_binaries(find_binaries(), account, standby.data.parent).folder
    done = account.run(
        [
            programs / "pg_basebackup",
            *("--pgdata", standby.data, "--write-recovery-conf", "--checkpoint=fast"),
            *("--host", primary.server_socket_dir, "--port", "5432", "--username", "shortener"),
        ],
        cwd=Path("/"),
        env={"PGPASSWORD": primary.password()},
    )
    assert done.returncode == 0, done.stderr
