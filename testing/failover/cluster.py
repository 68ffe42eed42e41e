"""The installation of docs/high-availability.md in namespaces: three database hosts, two service hosts, one proxy."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from testing.failover.client import Client
from testing.failover.database import (
    NAMES,
    DatabaseHost,
    readable_environment,
    settings_of,
    unprivileged_account,
)
from testing.failover.network import make_hosts, run
from testing.failover.service import PORT, ServiceHost, front_proxy
from testing.failover.units import Keeper
from testing.polling import happens

DATABASE = "shortener"
# Longer than any recovery: two members that copy a database one after the other.
RECOVERY_SECONDS = 180
_PROBE_TABLE = "CREATE TABLE probe (node text, number bigint, PRIMARY KEY (node, number))"


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        hosts = {host.name: host for host in make_hosts(*NAMES, "app1", "app2", "proxy")}
        self.hosts = hosts
        account, python = unprivileged_account(), readable_environment(folder)
        passwords = ("SUPERUSER_PASSWORD", "REPLICATION_PASSWORD", "REWIND_PASSWORD", "RESTAPI_PASSWORD")
        settings = settings_of(hosts, {name: secrets.token_hex(12) for name in passwords})
        self.members = [DatabaseHost(hosts[name], folder / name, settings, account, python) for name in NAMES]
        self._password = secrets.token_hex(12)
        user = f"postgres://shortener:{self._password}"
        servers = ",".join(f"{hosts[name].address}:5432" for name in NAMES)
        secret_key = secrets.token_urlsafe(50)
        # One host knows all servers, the other one goes through its HAProxy.
        urls = {
            "app1": f"{user}@{servers}/{DATABASE}",
            "app2": f"{user}@127.0.0.1:5000/{DATABASE}",
        }
        settings |= {"SECRET_KEY": secret_key, "SHORTENER_PASSWORD": self._password}
        proxies = f"{hosts['proxy'].address}/32"
        self.services = [
            ServiceHost(hosts[name], folder / name, settings, DATABASE_URL=url, TRUSTED_PROXIES=proxies)
            for name, url in urls.items()
        ]
        self.secret_key = secret_key
        self.proxy = front_proxy(hosts["proxy"], folder / "proxy", self.services)
        self.keeper = Keeper()

    def client(self, seconds: float = 5) -> Client:
        """Through the proxy."""
        return Client(self.proxy.host.address, PORT, seconds)

    # The state of the databases, as their own sockets show it.

    def leaders(self) -> list[DatabaseHost]:
        """The members that are primaries, in the order of their timelines."""
        found = []
        for member in self.members:
            with suppress(psycopg.Error):
                [(timeline,)] = member.rows(
                    "SELECT CASE WHEN NOT pg_is_in_recovery()"
                    " THEN ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END"
                )
                if timeline is not None:
                    found.append((timeline, member))
        return [member for _, member in sorted(found, key=lambda pair: pair[0])]

    def leader(self) -> DatabaseHost:
        """The primary with the highest timeline. Wait for one."""
        deadline = time.monotonic() + RECOVERY_SECONDS
        while not (leaders := self.leaders()):
            if time.monotonic() > deadline:
                raise TimeoutError("No member became the primary.")
            time.sleep(0.2)
        return leaders[-1]

    def standbys(self) -> list[DatabaseHost]:
        leader = self.leader()
        return [member for member in self.members if member is not leader]

    def has_standbys(self) -> bool:
        """Whether there is one primary, with two standbys that its commits can wait for."""
        try:
            leaders = self.leaders()
            if len(leaders) != 1:
                return False
            [(names, streaming)] = leaders[0].rows(
                "SELECT current_setting('synchronous_standby_names'),"
                " (SELECT count(*) FROM pg_stat_replication"
                "  WHERE state = 'streaming' AND sync_state IN ('quorum', 'sync'))"
            )
        except psycopg.Error:
            return False
        return streaming == len(self.members) - 1 and all(
            member.name in names for member in self.members_but(leaders[0])
        )

    def members_but(self, one: DatabaseHost) -> list[DatabaseHost]:
        return [member for member in self.members if member is not one]

    def etcd_leader(self) -> DatabaseHost | None:
        for member in self.members:
            line = _etcdctl(member, "endpoint", "status", "-w", "json")
            with suppress(ValueError, LookupError):
                status = json.loads(line)[0]["Status"]
                if status["header"]["member_id"] == status["leader"]:
                    return member
        return None

    def is_etcd_healthy(self) -> bool:
        return all("is healthy" in _etcdctl(member, "endpoint", "health") for member in self.members)

    def is_ready(self) -> bool:
        return all(service.internal("/readyz")[0] == 200 for service in self.services)

    def is_healthy(self) -> bool:
        return self.has_standbys() and self.is_ready() and self.is_etcd_healthy()

    def wait_until_healthy(self) -> float:
        """The seconds that it took. Raises TimeoutError."""
        began = time.monotonic()
        if not happens(self.is_healthy, within=RECOVERY_SECONDS, every=0.3):
            raise TimeoutError(f"The cluster has not recovered in {RECOVERY_SECONDS} s: {self.describe()}")
        return time.monotonic() - began

    def describe(self) -> str:
        """What is amiss, for messages."""
        words = [f"primaries {[member.name for member in self.leaders()]}", f"standbys {self.has_standbys()}"]
        words += [f"etcd {self.is_etcd_healthy()}"]
        words += [f"{service.name} {service.internal('/readyz')}" for service in self.services]
        return ", ".join(words)

    # Its life.

    def start(self) -> None:
        """Start everything from nothing, and prepare the service's database."""
        for member in self.members:
            member.enlist(self.keeper)
        for service in self.services:
            service.enlist(self.keeper)
        self.keeper.units.append(self.proxy)
        for member in self.members:
            member.etcd.start()
        for member in self.members:
            member.patroni.start()
        if not happens(self.has_standbys, within=RECOVERY_SECONDS, every=0.3):
            raise TimeoutError("Patroni has made no cluster.")
        with self.leader().superuser() as connection:
            connection.execute(f"CREATE ROLE shortener LOGIN PASSWORD '{self._password}'")
            connection.execute(f"CREATE DATABASE {DATABASE} OWNER shortener")
            connection.execute(_PROBE_TABLE)
        for service in self.services:
            service.balancer.start()
            service.unit.start()
        self.proxy.start()
        self.wait_until_healthy()

    def stop(self) -> None:
        units = list(self.keeper.units)
        self.keeper.units.clear()
        for unit in units:
            unit.kill(for_good=True)


def _etcdctl(member: DatabaseHost, *words: str) -> str:
    command = member.host.command(
        "etcdctl", f"--endpoints=http://{member.host.address}:2379", "--command-timeout=2s", *words
    )
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "ETCDCTL_API": "3"},
    )
    return done.stdout + done.stderr


@contextmanager
def cluster(logs: Path | None = None) -> Iterator[Cluster]:
    """A running cluster. Call it in namespaces of this run, see `isolation`. ``logs``: where to keep its logs."""
    folder = Path(tempfile.mkdtemp(prefix="shortener-failover-"))
    run("mount", "-t", "tmpfs", "-o", "size=8g,mode=755", "failover", folder)
    made = Cluster(folder)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        if logs is not None:
            for log in folder.glob("*/*.log"):
                kept = logs / log.relative_to(folder)
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(log, kept)
        run("umount", "--lazy", "--recursive", folder)
        folder.rmdir()
