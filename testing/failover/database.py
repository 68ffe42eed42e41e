"""A database host: etcd, and PostgreSQL under Patroni, configured by the files of deploy/ha."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from string import Template
from typing import Any

import psycopg
import yaml

from local_postgres.binaries import find_binaries
from testing.failover.network import Host, run
from testing.failover.units import Keeper, Unit, kill_all, send_all
from testing.failover.watchdog import Watchdog

KIT = Path(__file__).parents[2] / "deploy/ha"
NAMES = ("db1", "db2", "db3")
DISK_MB = 1500
# What the kit leaves to the machine or sizes for a large one. The disks here are memory.
_PARAMETERS = {
    "shared_buffers": "64MB",
    "max_wal_size": "192MB",
    "wal_keep_size": "192MB",
    "max_slot_wal_keep_size": "384MB",
    "archive_timeout": "0",
}
_LIBFAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
# `postgres` with a clock of its own if the file says so. Only it: libfaketime breaks the pauses of Patroni's Python.
_WRAPPER = """#!/bin/sh
if [ -s {clock} ]; then
    export LD_PRELOAD={library} FAKETIME="$(cat {clock})" FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_DISABLE_SHM=1
fi
exec {program} "$@"
"""


class DatabaseHost:
    """``folder`` has the data, the configuration and the logs; ``disk`` is PostgreSQL's own file system."""

    def __init__(
        self, host: Host, folder: Path, settings: Mapping[str, str], account: tuple[int, int], python: Path
    ) -> None:
        """``python``: an environment that the account can read, see `readable_environment`."""
        self.host, self.name, self.folder = host, host.name, folder
        self.disk, self.sockets, self._clock = folder / "disk", folder / "sockets", folder / "clock"
        self._account = account
        for made in (folder, self.disk, self.sockets):
            made.mkdir()
        self._mount()
        self._settings = {
            **settings,
            "NAME": host.name,
            "HOST": host.address,
            "PG_BIN": str(self._programs(python)),
            "DATA_DIR": str(self.disk / "data"),
            "SOCKET_DIR": str(self.sockets),
            "WATCHDOG": "required",
            "ETCD_STATE": "new",
        }
        for owned in (folder, self.disk, self.sockets):
            os.chown(owned, *account)
        self.watchdog = Watchdog(folder / "watchdog", account, self._reset)
        self.configuration = folder / "patroni.yml"
        self.configuration.write_text(yaml.safe_dump(self._patroni()))
        self.etcd = Unit(
            "etcd", host, self._etcd(), folder, environment={}, account=account, restart_seconds=1
        )
        self.patroni = Unit(
            "patroni",
            host,
            [str(python / "bin/python"), "-m", "patroni", str(self.configuration)],
            folder,
            environment={"PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder)},
            account=account,
            restart_seconds=5,
        )

    def enlist(self, keeper: Keeper) -> None:
        keeper.units += [self.etcd, self.patroni]

    # Its processes.

    def servers(self) -> list[int]:
        """PostgreSQL's processes. The postmaster, which is the oldest, comes first."""
        return sorted(pid for pid in self.host.pids() if _name(pid) == "postgres")

    def kill(self, *, for_good: bool) -> None:
        """SIGKILL Patroni and PostgreSQL. ``for_good``: with the machine."""
        self.patroni.kill(for_good=for_good)
        kill_all(self.host, self.servers())
        if for_good:
            self.watchdog.disarm()

    def _reset(self) -> None:
        """What the watchdog does. The machine starts its programs again."""
        self.etcd.kill()
        self.kill(for_good=False)
        self.patroni.start()

    def signal_database(self, number: int) -> None:
        """To Patroni and PostgreSQL."""
        self.patroni.send(number)
        send_all(self.servers(), number)

    def freeze(self) -> None:
        """Like a paused virtual machine, whose watchdog is paused, too."""
        self.watchdog.pause()
        self.signal_database(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal_database(signal.SIGCONT)
        self.watchdog.resume()

    # Its disk and its clock.

    def fill_disk(self) -> None:
        """Make PostgreSQL's disk as small as what is on it."""
        used = shutil.disk_usage(self.disk).used
        run("mount", "-o", f"remount,size={used}", self.disk)

    def free_disk(self) -> None:
        run("mount", "-o", f"remount,size={DISK_MB}m", self.disk)

    def set_clock(self, seconds: int) -> None:
        """From PostgreSQL's next start on, be so many seconds ahead, or behind."""
        self._clock.write_text(f"{seconds:+d}s" if seconds else "")

    # Its database, through the socket, which no cut reaches.

    def connect(self, database: str = "postgres", **options: Any) -> psycopg.Connection[Any]:
        parameters: dict[str, Any] = {"connect_timeout": 2, "autocommit": True, **options}
        return psycopg.connect(host=str(self.sockets), user="postgres", dbname=database, **parameters)

    def rows(self, query: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Raises psycopg.Error if the server is away or does not respond within two seconds."""
        with self.connect(database, options="-c statement_timeout=2000") as connection:
            return connection.execute(query).fetchall()

    @contextmanager
    def superuser(self, database: str = "postgres") -> Iterator[psycopg.Connection[Any]]:
        with self.connect(database) as connection:
            yield connection

    # Its files.

    def _mount(self) -> None:
        uid, gid = self._account
        run("mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=700,uid={uid},gid={gid}", "disk", self.disk)

    def _programs(self, python: Path) -> Path:
        """PostgreSQL's programs, with `postgres` in its wrapper."""
        folder = self.folder / "programs"
        folder.mkdir()
        programs = python / find_binaries().folder.relative_to(sys.prefix)
        for program in programs.iterdir():
            if program.name != "postgres":
                (folder / program.name).symlink_to(program)
        postgres = programs / "postgres"
        wrapper = _WRAPPER.format(clock=self._clock, library=_LIBFAKETIME, program=postgres)
        (folder / "postgres").write_text(wrapper)
        (folder / "postgres").chmod(0o755)
        return folder

    def _patroni(self) -> dict[str, Any]:
        text = Template((KIT / "patroni.yml").read_text()).safe_substitute(self._settings)
        configuration: dict[str, Any] = yaml.safe_load(text)
        configuration["bootstrap"]["dcs"]["postgresql"]["parameters"] |= _PARAMETERS
        configuration["watchdog"] |= {"driver": "testing", "device": str(self.folder / "watchdog")}
        # The proof looks at each server from outside its network.
        configuration["postgresql"]["pg_hba"].insert(0, "local all all trust")
        return configuration

    def _etcd(self) -> list[str]:
        unit = (KIT / "etcd.service").read_text()
        found = re.search(r"^ExecStart=((?:.*\\\n)*.*)$", unit, re.MULTILINE)
        assert found is not None
        line = Template(found[1].replace("\\\n", " ")).safe_substitute(self._settings)
        words = shlex.split(line)
        words[words.index("--data-dir") + 1] = str(self.folder / "etcd")
        return words


def unprivileged_account() -> tuple[int, int]:
    """The ids of an account with a name, which initdb requires. No other process of it is in these namespaces."""
    try:
        entry = pwd.getpwnam("postgres")
    except KeyError:
        entry = pwd.getpwnam("nobody")
    return entry.pw_uid, entry.pw_gid


def readable_environment(folder: Path) -> Path:
    """This process's virtual environment, mounted in a folder that every account can enter."""
    python = folder / "python"
    python.mkdir()
    run("mount", "--bind", sys.prefix, python)
    return python


def settings_of(hosts: Mapping[str, Host], passwords: Mapping[str, str]) -> dict[str, str]:
    """The common part of ha.env."""
    names = {"DB1": "db1", "DB2": "db2", "DB3": "db3", "SERVICE1": "app1", "SERVICE2": "app2"}
    return {**{name: hosts[host].address for name, host in names.items()}, **passwords}


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def patronictl(member: DatabaseHost, *words: str) -> str:
    """Run patronictl on the member's host."""
    command = member.host.command(
        sys.executable, "-c", "from patroni.ctl import ctl; ctl()", "-c", member.configuration, *words
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr
