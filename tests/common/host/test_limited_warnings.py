"""Warnings that a host logs once per subject and period, across processes."""

from __future__ import annotations

import fcntl
import multiprocessing
from pathlib import Path

import pytest
import time_machine

from common.host.limited_warnings import LimitedWarnings
from testing.polling import DEADLINE

NOON = "2030-01-01T12:00:00Z"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run" / "warnings"


def warnings(file: Path, subjects: int = 3) -> LimitedWarnings:
    return LimitedWarnings(file, seconds=60, subjects=subjects)


def test_a_subject_is_due_once_in_a_period(file: Path) -> None:
    limited = warnings(file)
    with time_machine.travel(NOON, tick=False) as clock:
        due = []
        for seconds in (0, 0, 59, 1, 59, 1):
            clock.shift(seconds)
            due.append(limited.is_due("a.example"))

    assert due == [True, False, False, True, False, True]


def test_subjects_are_independent_and_their_number_is_bounded(file: Path) -> None:
    limited = warnings(file)
    with time_machine.travel(NOON, tick=False) as clock:
        assert [limited.is_due(f"{number}.example") for number in range(6)] == [True] * 3 + [False] * 3
        clock.shift(60)
        assert limited.is_due("5.example")


def test_processes_share_their_warnings(file: Path) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        assert warnings(file).is_due("a.example")
        assert not warnings(file).is_due("a.example")
        clock.shift(60)
        assert warnings(file).is_due("a.example")


def test_of_many_processes_at_once_exactly_one_warns(file: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(8), context.SimpleQueue()

    def warn() -> None:
        limited = warnings(file)
        barrier.wait()
        results.put(limited.is_due("a.example"))

    processes = [context.Process(target=warn) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(DEADLINE)

    assert sorted(results.get() for _ in processes) == [False] * 7 + [True]


def test_while_the_file_is_full_it_is_not_read(file: Path) -> None:
    limited = warnings(file, subjects=1)
    assert limited.is_due("a.example")
    file.unlink()

    assert not limited.is_due("b.example")
    assert not file.exists()


def test_it_does_not_wait_for_another_process(file: Path) -> None:
    limited = warnings(file)
    assert limited.is_due("a.example")
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not limited.is_due("b.example")
    assert limited.is_due("b.example")


def test_the_recent_subjects_are_those_of_the_last_period(file: Path) -> None:
    limited = warnings(file)
    assert limited.recent() == []
    with time_machine.travel(NOON, tick=False) as clock:
        limited.is_due("a.example")
        clock.shift(30)
        limited.is_due("b.example")
        assert warnings(file).recent() == ["a.example", "b.example"]
        clock.shift(30)
        assert warnings(file).recent() == ["b.example"]


def test_a_clock_that_was_set_back_does_not_silence_warnings(file: Path) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        limited = warnings(file)
        assert limited.is_due("a.example")
        clock.shift(-3600)
        assert limited.is_due("a.example")
        assert not warnings(file).is_due("a.example")


@pytest.mark.parametrize("text", ["", "1", "x y\n", "nan a.example\n", "\n\n \n", "18934", "\x00"])
def test_a_damaged_file_is_replaced(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)

    assert warnings(file).is_due("a.example")
    assert warnings(file).recent() == ["a.example"]


def test_without_the_file_each_process_warns_for_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "run").write_text("not a folder")
    limited = warnings(tmp_path / "run" / "warnings")

    assert [limited.is_due("a.example") for _ in range(3)] == [True, False, False]
    assert limited.recent() == []
    assert len(caplog.records) == 1


def test_only_the_services_account_can_read_the_file(file: Path) -> None:
    warnings(file).is_due("a.example")

    assert file.stat().st_mode & 0o777 == 0o600
