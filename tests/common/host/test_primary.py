"""The server that all processes of a host use."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from common.host import primary, state
from common.host.primary import Followed, Verdict, number_of

# Of PostgreSQL: a system identifier has 64 bits.
SYSTEM, OTHER_SYSTEM = 7_553_000_000_000_000_001, 7_553_000_000_000_000_002
PROCESSES, ROUNDS = 4, 200


@pytest.fixture(autouse=True)
def file(settings: Settings, tmp_path: Path) -> Iterator[None]:
    settings.VERSIONS_FILE = tmp_path / "run" / "versions"
    state.mapped.cache_clear()
    yield
    state.mapped.cache_clear()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Seconds since the machine booted."""
    now = [100]
    monkeypatch.setattr(state.time, "clock_gettime_ns", lambda _: now[0] * 1_000_000_000)
    monkeypatch.setattr(state, "HEARING_SECONDS", 5.0)
    return now


def test_a_higher_timeline_replaces_a_lower_one_which_is_then_refused() -> None:
    assert primary.admit(number_of(SYSTEM, 5)) is Verdict.CURRENT
    assert primary.admit(number_of(SYSTEM, 5)) is Verdict.CURRENT
    assert not primary.is_former(number_of(SYSTEM, 5))
    assert primary.admit(number_of(SYSTEM, 6)) is Verdict.OTHER
    assert primary.is_former(number_of(SYSTEM, 5))
    assert primary.admit(number_of(SYSTEM, 5)) is Verdict.FORMER
    assert primary.current() == number_of(SYSTEM, 6)


def test_another_system_is_used_whatever_its_timeline() -> None:
    primary.admit(number_of(SYSTEM, 5))
    assert primary.admit(number_of(OTHER_SYSTEM, 1)) is Verdict.OTHER
    assert primary.is_former(number_of(SYSTEM, 5))


def test_a_server_that_cannot_be_identified_is_used_and_forgets_nothing() -> None:
    primary.admit(number_of(SYSTEM, 5))
    assert primary.admit(primary.UNKNOWN) is Verdict.CURRENT
    assert not primary.is_former(primary.UNKNOWN)
    assert primary.admit(number_of(SYSTEM, 4)) is Verdict.FORMER


def test_what_an_operator_accepts_may_be_of_an_earlier_timeline() -> None:
    primary.admit(number_of(SYSTEM, 5))
    primary.note_former()
    primary.forget()
    assert not primary.has_former()
    assert primary.admit(number_of(SYSTEM, 4)) is Verdict.CURRENT
    assert primary.is_former(number_of(SYSTEM, 5))


def test_the_largest_timeline_is_not_taken_for_another_system() -> None:
    primary.admit(number_of(SYSTEM, 2**32 - 1))
    assert primary.timeline_of(primary.current()) == 2**32 - 1
    assert primary.admit(number_of(SYSTEM, 1)) is Verdict.FORMER


def test_the_server_survives_the_processes() -> None:
    primary.admit(number_of(SYSTEM, 5))
    state.mapped.cache_clear()
    assert primary.current() == number_of(SYSTEM, 5)


def test_concurrent_processes_agree_on_the_highest_timeline() -> None:
    """Without a lock, a process that has compared earlier would overwrite a higher timeline."""
    fork = multiprocessing.get_context("fork")
    barrier: Barrier = fork.Barrier(PROCESSES + 1)

    def climb(offset: int) -> None:
        for first in range(0, ROUNDS * PROCESSES, PROCESSES):
            barrier.wait()
            primary.admit(number_of(SYSTEM, first + offset + 1))
            barrier.wait()

    state.mapped()
    climbers = [fork.Process(target=climb, args=[offset]) for offset in range(PROCESSES)]
    for climber in climbers:
        climber.start()
    highest = []
    for _ in range(ROUNDS):
        barrier.wait()
        barrier.wait()
        highest.append(primary.timeline_of(primary.current()))
    for climber in climbers:
        climber.join()
    assert highest == [number * PROCESSES for number in range(1, ROUNDS + 1)]


def test_each_change_of_the_followed_server_is_noticed_once() -> None:
    servers = [(SYSTEM, 1), (SYSTEM, 1), (SYSTEM, 2), (OTHER_SYSTEM, 2), (OTHER_SYSTEM, 2)]
    assert [primary.note_followed(number_of(*server)) for server in servers] == [
        *(Followed.SAME, Followed.SAME, Followed.OTHER_TIMELINE, Followed.OTHER_SYSTEM, Followed.SAME)
    ]


def test_notifications_of_a_former_primary_confirm_no_cache() -> None:
    primary.admit(number_of(SYSTEM, 5))
    primary.note_followed(number_of(SYSTEM, 5))
    state.note_heard()
    assert state.is_hearing()
    primary.admit(number_of(SYSTEM, 6))
    assert not state.is_hearing()
    primary.note_followed(number_of(SYSTEM, 6))
    assert state.is_hearing()


def test_a_commit_counts_for_seconds(clock: list[int]) -> None:
    assert not primary.is_committing()
    primary.note_committed()
    clock[0] += 5
    assert primary.is_committing()
    clock[0] += 1
    assert not primary.is_committing()


def test_the_database_has_gone_back_if_only_a_former_primary_responds(clock: list[int]) -> None:
    primary.note_committed()
    primary.note_former()
    assert (primary.has_former(), primary.has_gone_back()) == (True, False)
    clock[0] += 6
    assert (primary.has_former(), primary.has_gone_back()) == (True, True)
    clock[0] += 5
    assert (primary.has_former(), primary.has_gone_back()) == (False, False)


def test_a_host_has_one_number() -> None:
    number = primary.host_number()
    state.mapped.cache_clear()
    assert number == primary.host_number() != 0
