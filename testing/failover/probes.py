"""Writes to every member of the cluster through its own socket: only one of them may accept any."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import psycopg

from testing.failover.database import DatabaseHost

PERIOD_SECONDS = 0.08
# The servers' logs need not have each refusal.
_QUIET = "-c log_min_messages=fatal -c log_min_error_statement=panic"
_WRITE = """
INSERT INTO probe VALUES (%s, %s) RETURNING ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int
"""


class Write(NamedTuple):
    """A write that the server has acknowledged, without the warning that no standby has it."""

    node: str
    number: int
    timeline: int
    began: float
    ended: float


class Probe(threading.Thread):
    """Writes rows continuously. A frozen or waiting server holds it up; a standby refuses it."""

    def __init__(self, member: DatabaseHost) -> None:
        super().__init__(name=f"probe-{member.name}", daemon=True)
        self.writes: list[Write] = []
        self.local_only = 0
        self._member = member
        self._warnings: list[str] = []
        self._stopped = threading.Event()

    def run(self) -> None:
        number = 0
        while not self._stopped.is_set():
            try:
                with self._member.connect(options=_QUIET) as connection:
                    connection.add_notice_handler(lambda notice: self._warnings.append(notice.sqlstate or ""))
                    while not self._stopped.wait(PERIOD_SECONDS):
                        number += 1
                        # A standby refuses it and may be asked again.
                        with suppress(psycopg.errors.ReadOnlySqlTransaction):
                            self._write(connection, number)
            except psycopg.Error:
                self._stopped.wait(PERIOD_SECONDS)

    def stop(self) -> None:
        self._stopped.set()

    def _write(self, connection: psycopg.Connection, number: int) -> None:
        began = time.monotonic()
        self._warnings.clear()
        [(timeline,)] = connection.execute(_WRITE, [self._member.name, number]).fetchall()
        if self._warnings:
            # "The transaction has already committed locally, but might not have been replicated to the standby."
            self.local_only += 1
        else:
            self.writes.append(Write(self._member.name, number, timeline, began, time.monotonic()))


def two_writers(writes: Iterable[Write]) -> list[str]:
    """Writes that a former primary accepted after one on a later timeline, or another server on the same timeline.

    A timeline belongs to one server: a promotion begins a new one.
    """
    problems, latest = [], 0
    reached: dict[int, float] = {}
    owners: dict[int, str] = {}
    for write in sorted(writes, key=lambda write: write.ended):
        if (owner := owners.setdefault(write.timeline, write.node)) != write.node:
            problems.append(f"{write.node} accepted a write on timeline {write.timeline} of {owner}")
        if write.timeline > latest:
            latest = write.timeline
            reached[latest] = write.ended
        elif write.timeline < latest:
            since = min(moment for timeline, moment in reached.items() if timeline > write.timeline)
            if write.began > since:
                problems.append(
                    f"{write.node} accepted a write on timeline {write.timeline} {write.began - since:.2f} s"
                    f" after one on a later timeline"
                )
    return problems
