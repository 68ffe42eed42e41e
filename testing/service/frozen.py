"""Processes stopped in the middle of a transaction, and what the service has counted afterwards."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

import psycopg

from local_postgres import EmbeddedPostgres
from testing.polling import DEADLINE, happens
from testing.service import processes
from testing.service.running import Connection, Service, eventually


def _database(service: Service) -> psycopg.Connection[Any]:
    url = service.environment.get("DATABASE_URL") or EmbeddedPostgres(service.var_dir).url
    return psycopg.connect(url, autocommit=True)


def follow(service: Service, link: dict[str, Any], times: int) -> None:
    for _ in range(times):
        assert service.call("GET", f"/{link['shortCode']}").status == 302


# The drainer at the end of its batch, and a request that enables or disables a link: both wait for an owner's sums.
_DRAINER, _EDIT = "%UPDATE links_clickcounter%", '%UPDATE "links_link"%'


def _waits_for_a_lock(connection: psycopg.Connection[Any], statement: str) -> bool:
    return bool(
        connection.execute(
            "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            " AND query LIKE %s AND pid <> pg_backend_pid()",
            [statement],
        ).fetchall()
    )


def _holds_its_locks(connection: psycopg.Connection[Any]) -> bool:
    with suppress(psycopg.errors.LockNotAvailable):
        connection.execute("SELECT FROM links_ownertotals FOR UPDATE NOWAIT")
        return False
    return True


@contextmanager
def frozen_in_a_transaction(
    service: Service, link: dict[str, Any], commands: list[str]
) -> Iterator[list[int]]:
    """Stop these processes while the drainer holds the locks of the link's counter and its owner's sums."""
    pids = [service.child(command) for command in commands]
    with _frozen(service, lambda: pids, lambda: follow(service, link, 1), [_DRAINER]):
        yield pids


@contextmanager
def host_frozen_in_transactions(
    service: Service, api_key: str, followed: dict[str, Any], edited: dict[str, Any]
) -> Iterator[int]:
    """Stops all processes of the service while its drainer and an API request hold locks.

    Yields how often it has followed the link ``followed`` for that.
    """
    follows = 0
    with ExitStack() as opened:

        def begin() -> None:
            nonlocal follows
            follow(service, followed, 1)
            follows += 1
            request = opened.enter_context(closing(Connection(service.port)))
            # Links with another end change in a transaction of several statements. It waits for the owner's sums only
            # if it changes them, also in a further attempt.
            changes = {"isActive": follows % 2 == 0, "expiresAt": "2099-12-31T00:00:00Z"}
            request.send_request("PUT", f"/api/urls/{edited['_id']}", changes, X_API_Key=api_key)

        with _frozen(service, service.processes, begin, [_DRAINER, _EDIT]):
            yield follows


@contextmanager
def _frozen(
    service: Service, find: Callable[[], list[int]], begin: Callable[[], None], statements: list[str]
) -> Iterator[None]:
    """Stops the processes that ``find`` returns while each of the ``statements`` that ``begin`` causes waits for a
    lock.
    """
    pids: list[int] = []
    try:
        with _database(service) as connection, _database(service) as observer:
            deadline = time.monotonic() + DEADLINE
            while True:
                assert time.monotonic() < deadline, "The statements never waited at the same time."
                pids = find()
                with connection.transaction():
                    connection.execute("SELECT FROM links_ownertotals FOR UPDATE")
                    begin()
                    # A statement that waits for too long fails, and may do so before another has begun.
                    if not happens(
                        lambda: all(_waits_for_a_lock(observer, statement) for statement in statements),
                        within=10,
                        every=0.002,
                    ):
                        continue
                    _send(pids, signal.SIGSTOP)
                    eventually(lambda pids=pids: all(map(_does_not_run, pids)), every=0.002)
                # Its own timeout may have ended the transaction first. Then try again.
                if _holds_its_locks(observer):
                    break
                _send(pids, signal.SIGCONT)
        yield
    finally:
        _send(pids, signal.SIGCONT)


def _send(pids: list[int], number: int) -> None:
    """Some processes, such as the loader of a warm start, end by themselves."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _does_not_run(pid: int) -> bool:
    return processes.is_stopped(pid) or not processes.is_alive(pid)


def audit(service: Service) -> str:
    return service.manage("audit_counters").stdout
