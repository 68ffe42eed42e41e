"""The faults. Each begins, lasts for some seconds, and is over; the cluster then recovers by itself."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import psycopg

from testing.failover.cluster import Cluster
from testing.failover.database import DatabaseHost, patronictl
from testing.failover.network import CLIENTS
from testing.failover.service import STALE_SECONDS, ServiceHost
from testing.failover.units import send_all
from testing.polling import happens

# The lock of the leader lasts for 20 s: faults that a promotion must follow last longer.
LONG, SHORT = (27, 34), (8, 16)
CLOCK_SECONDS = 30
# For the fault that must last longer.
SHORT_STALE_SECONDS = 20

End = Callable[[], None]


class Begun(NamedTuple):
    """``where``: the hosts concerned, for the log. ``end`` takes the fault away."""

    where: str
    end: End


@dataclass(frozen=True)
class Fault:
    """``seconds``: the shortest and the longest time from its begin to its end.

    ``is_outage``: whether service hosts may lack the database meanwhile. ``stale_seconds``: their STALE_SECONDS.
    """

    name: str
    title: str
    seconds: tuple[int, int]
    begin: Callable[[Cluster, Random], Begun]
    is_outage: bool = False
    stale_seconds: int = STALE_SECONDS


def _leader_killed(cluster: Cluster, _: Random) -> Begun:
    leader = cluster.leader()
    leader.kill(for_good=True)
    return Begun(leader.name, leader.patroni.start)


def _leader_crashed(cluster: Cluster, _: Random) -> Begun:
    leader = cluster.leader()
    leader.kill(for_good=False)
    return Begun(leader.name, _nothing)


def _postgres_killed(cluster: Cluster, _: Random) -> Begun:
    leader = cluster.leader()
    send_all(leader.servers(), signal.SIGKILL)
    return Begun(leader.name, _nothing)


def _patroni_killed(cluster: Cluster, _: Random) -> Begun:
    leader = cluster.leader()
    leader.patroni.kill(for_good=True)
    return Begun(leader.name, leader.patroni.start)


def _leader_frozen(cluster: Cluster, _: Random) -> Begun:
    leader = cluster.leader()
    leader.freeze()
    return Begun(leader.name, leader.thaw)


def _patroni_frozen(cluster: Cluster, _: Random) -> Begun:
    leader = cluster.leader()
    leader.patroni.send(signal.SIGSTOP)
    return Begun(leader.name, lambda: leader.patroni.send(signal.SIGCONT))


def _everybody_but(cluster: Cluster, one: DatabaseHost | ServiceHost) -> list[str]:
    return [CLIENTS, *(host.address for host in cluster.hosts.values() if host.name != one.name)]


def _leader_cut(*directions: str) -> Callable[[Cluster, Random], Begun]:
    def begin(cluster: Cluster, _: Random) -> Begun:
        leader = cluster.leader()
        leader.host.cut(_everybody_but(cluster, leader), directions)
        return Begun(leader.name, leader.host.heal)

    return begin


def _leader_cut_from_members(cluster: Cluster, _: Random) -> Begun:
    leader = cluster.leader()
    leader.host.cut([member.host.address for member in cluster.members_but(leader)])
    return Begun(leader.name, leader.host.heal)


def _leader_slow(cluster: Cluster, _: Random) -> Begun:
    leader = cluster.leader()
    leader.host.slow()
    return Begun(leader.name, leader.host.heal)


def _leader_lossy(cluster: Cluster, random: Random) -> Begun:
    leader = cluster.leader()
    percent = random.choice([5, 15, 30])
    leader.host.lose(percent)
    return Begun(f"{leader.name}, {percent} %", leader.host.heal)


def _etcd_leader_killed(cluster: Cluster, random: Random) -> Begun:
    member = cluster.etcd_leader() or random.choice(cluster.members)
    member.etcd.kill(for_good=True)
    return Begun(member.name, member.etcd.start)


def _etcd_majority_lost(cluster: Cluster, random: Random) -> Begun:
    lost = random.sample(cluster.members, 2)
    for member in lost:
        member.etcd.kill(for_good=True)

    def end() -> None:
        for member in lost:
            member.etcd.start()

    return Begun(" and ".join(member.name for member in lost), end)


def _service_cut_from_database(cluster: Cluster, random: Random) -> Begun:
    service = random.choice(cluster.services)
    service.host.cut([member.host.address for member in cluster.members])
    return Begun(service.name, service.host.heal)


def _service_outdated(cluster: Cluster, random: Random) -> Begun:
    service = random.choice(cluster.services)
    service.set_stale_seconds(SHORT_STALE_SECONDS)
    service.restart()
    # What it knows, it may have read long ago.
    happens(lambda: service.internal("/readyz")[0] == 200, within=20, every=0.2)
    service.host.cut([member.host.address for member in cluster.members])

    def end() -> None:
        service.host.heal()
        service.set_stale_seconds(STALE_SECONDS)
        service.restart()

    return Begun(service.name, end)


def _service_cut_from_clients(cluster: Cluster, random: Random) -> Begun:
    service = random.choice(cluster.services)
    service.host.cut([CLIENTS, cluster.hosts["proxy"].address])
    return Begun(service.name, service.host.heal)


def _service_killed(cluster: Cluster, random: Random) -> Begun:
    service = random.choice(cluster.services)
    service.kill()
    return Begun(service.name, _nothing)


def _journal_full(cluster: Cluster, random: Random) -> Begun:
    service = random.choice(cluster.services)
    service.fill_journal()
    return Begun(service.name, service.free_journal)


def _database_disk_full(cluster: Cluster, _: Random) -> Begun:
    leader = cluster.leader()
    leader.fill_disk()
    return Begun(leader.name, leader.free_disk)


def _service_clock(cluster: Cluster, random: Random) -> Begun:
    service, seconds = random.choice(cluster.services), random.choice([-CLOCK_SECONDS, CLOCK_SECONDS])
    service.set_clock(seconds)
    service.restart()

    def end() -> None:
        service.set_clock(0)
        service.restart()

    return Begun(f"{service.name} {seconds:+d} s", end)


def _database_clock(cluster: Cluster, random: Random) -> Begun:
    leader, seconds = cluster.leader(), random.choice([-CLOCK_SECONDS, CLOCK_SECONDS])
    leader.set_clock(seconds)
    _restart_server(leader)
    ahead = float(leader.rows("SELECT extract(epoch FROM clock_timestamp())")[0][0]) - time.time()
    if abs(ahead - seconds) > 2:
        raise psycopg.OperationalError(f"The clock is {ahead:.0f} s ahead and not {seconds} s.")

    def end() -> None:
        leader.set_clock(0)
        _restart_server(leader)

    return Begun(f"{leader.name} {seconds:+d} s", end)


def _restart_server(member: DatabaseHost) -> None:
    patronictl(member, "restart", "shortener", member.name, "--force")


def _switchover(cluster: Cluster, random: Random) -> Begun:
    leader = cluster.leader()
    candidate = random.choice(cluster.members_but(leader))
    patronictl(
        candidate,
        "switchover",
        "shortener",
        "--leader",
        leader.name,
        "--candidate",
        candidate.name,
        "--force",
    )
    return Begun(f"{leader.name} to {candidate.name}", _nothing)


def _standby_lags(cluster: Cluster, random: Random) -> Begun:
    standby = random.choice(cluster.standbys())
    standby.rows("SELECT pg_wal_replay_pause()")

    def end() -> None:
        # It may have been promoted meanwhile, or be away.
        with suppress(psycopg.Error):
            standby.rows("SELECT pg_wal_replay_resume() WHERE pg_is_in_recovery()")

    return Begun(standby.name, end)


def _standby_killed(cluster: Cluster, random: Random) -> Begun:
    standby = random.choice(cluster.standbys())
    standby.kill(for_good=True)
    return Begun(standby.name, standby.patroni.start)


def _standbys_killed(cluster: Cluster, _: Random) -> Begun:
    standbys = cluster.standbys()
    for standby in standbys:
        standby.kill(for_good=True)

    def end() -> None:
        for standby in standbys:
            standby.patroni.start()

    return Begun(" and ".join(standby.name for standby in standbys), end)


def _everything_restarted(cluster: Cluster, _: Random) -> Begun:
    """As after a power failure of the whole room, but that what was written is on the disks."""
    for member in cluster.members:
        member.etcd.kill(for_good=True)
        member.kill(for_good=True)
    for service in cluster.services:
        service.balancer.kill(for_good=True)
        service.kill(for_good=True)
    cluster.proxy.kill(for_good=True)
    time.sleep(1)
    for unit in cluster.keeper.units:
        unit.start()
    return Begun("all hosts", _nothing)


def _nothing() -> None:
    """The fault is over by itself."""


FAULTS = {
    fault.name: fault
    for fault in (
        Fault("leader-killed", "leader dead", LONG, _leader_killed, is_outage=True),
        Fault("leader-crashed", "leader killed, started again", SHORT, _leader_crashed, is_outage=True),
        Fault("postgres-killed", "leader's PostgreSQL killed", SHORT, _postgres_killed, is_outage=True),
        Fault("patroni-killed", "leader's Patroni dead", LONG, _patroni_killed, is_outage=True),
        Fault("leader-frozen", "leader frozen", LONG, _leader_frozen, is_outage=True),
        Fault("patroni-frozen", "leader's Patroni frozen", LONG, _patroni_frozen, is_outage=True),
        Fault("leader-cut", "leader cut off", LONG, _leader_cut("in", "out"), is_outage=True),
        Fault("leader-deaf", "leader receives nothing", LONG, _leader_cut("in"), is_outage=True),
        Fault("leader-mute", "leader reaches nobody", LONG, _leader_cut("out"), is_outage=True),
        Fault("leader-alone", "leader without other members", LONG, _leader_cut_from_members, is_outage=True),
        Fault("leader-slow", "leader at 400 kbit/s", LONG, _leader_slow, is_outage=True),
        Fault("leader-lossy", "leader loses packets", LONG, _leader_lossy, is_outage=True),
        Fault("etcd-leader-killed", "etcd's leader dead", SHORT, _etcd_leader_killed),
        Fault("etcd-majority-lost", "two etcd members dead", LONG, _etcd_majority_lost),
        Fault("service-without-database", "host without database", LONG, _service_cut_from_database, is_outage=True),
        Fault(
            "service-outdated", "host without database, `STALE_SECONDS=20`", LONG, _service_outdated,
            is_outage=True, stale_seconds=SHORT_STALE_SECONDS,
        ),
        Fault("service-without-clients", "host without clients", SHORT, _service_cut_from_clients),
        Fault("service-killed", "host killed, started again", SHORT, _service_killed),
        Fault("journal-full", "journal's disk full", SHORT, _journal_full),
        Fault("database-disk-full", "leader's disk full", LONG, _database_disk_full, is_outage=True),
        Fault("service-clock", "host's clock ±30 s", SHORT, _service_clock),
        Fault("database-clock", "leader's clock ±30 s", SHORT, _database_clock, is_outage=True),
        Fault("switchover", "switchover", SHORT, _switchover, is_outage=True),
        Fault("standby-lags", "standby lags", (60, 60), _standby_lags),
        Fault("standby-killed", "standby dead", SHORT, _standby_killed),
        Fault("standbys-killed", "both standbys dead", SHORT, _standbys_killed, is_outage=True),
        Fault("everything-restarted", "all programs killed", SHORT, _everything_restarted, is_outage=True),
    )
}  # fmt: skip
