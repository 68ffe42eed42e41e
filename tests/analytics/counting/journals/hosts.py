"""A host whose drainer counts while its journal is rewritten, restored and lost."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError, connection, transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from accounts.services import NewAccount
from analytics.counting.pipeline import Drainer
from analytics.journal.mirror import Mirror
from analytics.journal.pending import add_pending, open_record
from analytics.journal.reader import segments
from analytics.journal.records import BRANCH_SHIFT, Record, decode, encode, frame, read_frames
from analytics.journal.writer import Journal
from analytics.models import DeadLetter, Kind, PendingRecord, Segment
from common.http.urls import canonical_destination
from links.services import create_link
from testing.analytics.branches import branch, set_branches

# Yesterday, because the pipeline replaces times more than 30 days old with the current time.
EPOCH = time.time_ns() // 1000 - 86_400_000_000
appends = st.tuples(st.just("append"), st.integers(0, 1), st.integers(1, 12))
steps = st.one_of(
    appends,
    st.tuples(st.just("sync"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("fail"), st.integers(0, 1), st.integers(0, 1)),
    st.tuples(st.just("die"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("tear"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("lose"), st.just(0), st.just(0)),
    st.tuples(st.just("pending"), st.just(0), st.integers(1, 12)),
    st.tuples(st.just("poison"), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("drain"), st.integers(0, 1), st.integers(1, 15)),
    st.tuples(st.just("interrupt"), st.integers(0, 1), st.integers(1, 40)),
)
# All examples share the fixture's link; each example's writes are rolled back.
shared_fixtures = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def branch_of(moment: int) -> int:
    """The branch of the record with this time: each number in turn, and the link itself."""
    return moment % 16


@dataclass
class Host:
    """Two writers and two drainers on one folder. The time identifies a record."""

    folder: Path
    link: int
    mirror: Path | None = None
    redirected: list[int] = field(default_factory=list)
    # Records missing from both the restored database and the journals.
    lost: set[int] = field(default_factory=set)
    dump: str | None = None

    def __post_init__(self) -> None:
        self.drainers = [self.drainer(), self.drainer()]
        self.journals = [self.journal(), self.journal()]

    def drainer(self) -> Drainer:
        return Drainer(self.folder, mirror=self.mirror and Mirror(self.mirror))

    def journal(self) -> Journal:
        journal = Journal(self.folder, "group", self.mirror)
        # The test decides when a sync happens.
        journal._syncer = Thread()
        return journal

    def record(self, *, poisoned: bool = False) -> bytes:
        self.redirected.append(EPOCH + len(self.redirected))
        # Lengths on both sides of 256: the frame of a shorter payload starts with a zero byte.
        agent = "x" * (200 + len(self.redirected) % 40)
        reason = "\0" if poisoned else ""
        flags = branch_of(self.redirected[-1]) << BRANCH_SHIFT
        return encode(Record(self.redirected[-1], self.link, Kind.CLICK, flags, "8.8.8.8", reason, agent, ""))

    def run(self, step: str, which: int, number: int) -> None:
        journal = self.journals[which]
        match step:
            case "append" | "poison":
                for _ in range(number or 1):
                    journal.append(self.record(poisoned=step == "poison"))
            case "sync":
                journal.sync()
            case "fail" if journal._segment is not None:
                error = OSError(5, "Input/output error")
                # A failing disk may also refuse the truncation.
                with patch("os.ftruncate", side_effect=error) if number else nullcontext():
                    journal._rewrite_unsynced(journal._segment, error)
            case "die":
                self.end(which)
            case "tear" if journal._segment is not None:
                # Killed during a write: no client got a response.
                torn = frame(encode(Record(0, self.link, Kind.CLICK, 0, "", "", "x" * 300, "")))
                os.write(journal._segment.copies[-1].descriptor, torn[: 1 + len(self.redirected) * 7 % 300])
                self.end(which)
            case "lose" if self.mirror is not None:
                self.lose(Mirror(self.mirror))
            case "pending":
                self.add_pending(number)
            case "drain":
                self.drainers[which]._limit = number
                self.drainers[which].drain_batch()
            case "interrupt":
                self.interrupt(self.drainers[which], number)
            case "dump":
                self.dump = transaction.savepoint()
            case "restore" if self.dump is not None:
                transaction.savepoint_rollback(self.dump)
                self.drainers = [self.drainer(), self.drainer()]
                self.lost = set(self.redirected) - set(self.counted()) - self.waiting()

    def add_pending(self, number: int) -> None:
        for _ in range(number):
            add_pending(self.record())

    def lose(self, mirror: Mirror) -> None:
        """The host and its disk."""
        for which in (0, 1):
            self.end(which)
        for segment in segments(self.folder):
            segment.delete()
        mirror.recover(self.folder)
        self.drainers = [self.drainer(), self.drainer()]

    def interrupt(self, drainer: Drainer, after: int) -> None:
        """Drain a batch until the database fails at a statement; what was not committed is rolled back."""
        statements = count(1)

        def fail(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
            result = execute(sql, *rest)
            # Django itself handles errors of savepoint statements, of which this test has one more level.
            if "SAVEPOINT" not in sql and next(statements) == after:
                raise OperationalError("the connection is lost")
            return result

        drainer._limit = 15
        with connection.execute_wrapper(fail), suppress(OperationalError):
            drainer.drain_batch()

    def end(self, which: int) -> None:
        journal = self.journals[which]
        for segment in [*journal._full, *([journal._segment] if journal._segment else [])]:
            segment.close()
        self.journals[which] = self.journal()

    def drain_all(self) -> None:
        while any(drainer.drain_batch() for drainer in self.drainers):
            pass

    def counted(self) -> Counter[int]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT (extract(epoch FROM time) * 1000000)::bigint, branch FROM analytics_click")
            clicks = cursor.fetchall()
        assert [branch and branch.int for _, branch in clicks] == [
            branch_of(clicked_at) or None for clicked_at, _ in clicks
        ]
        counted = Counter(clicked_at for clicked_at, _ in clicks)
        return counted + Counter(
            decode(open_record(letter.record)).time for letter in DeadLetter.objects.all()
        )

    def waiting(self) -> set[int]:
        waiting = {decode(open_record(pending.record)).time for pending in PendingRecord.objects.all()}
        offsets = dict(Segment.objects.values_list("id", "offset"))
        for segment in segments(self.folder):
            data = segment.path.read_bytes()[offsets.get(segment.id, 0) :]
            # A reader independent of the pipeline's search for frames after zeros.
            data = data.lstrip(b"\0")
            for candidate in (data, b"\0" + data):
                try:
                    frames = read_frames(candidate, len(candidate))
                except Exception:  # noqa: S112 # the other candidate may be readable
                    continue
                waiting |= {decode(payload).time for payload, _ in frames}
        return waiting

    def assert_counted_once(self) -> None:
        counted = self.counted()
        assert [moment for moment, times in counted.items() if times > 1] == []
        assert set(counted) | self.waiting() == set(self.redirected) - self.lost


@pytest.fixture
def link(alice: NewAccount) -> int:
    """The id of the branch with a number is the number."""
    link = create_link(owner=alice.workspace, destination=canonical_destination("https://example.com/"))
    entries = [branch(number) | {"_id": f"{number:032x}"} for number in range(1, 16)]
    set_branches(str(link.public_id), entries[:10], entries[10:])
    return link.pk


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """One read does not reach the end of the segment, as in a segment of full size."""
    monkeypatch.setattr("analytics.journal.reader.CHUNK_BYTES", 1_000)
