"""Reads of links from a database that does not respond."""

from __future__ import annotations

import threading

import pytest
from django.db import OperationalError

from links.destinations import patience
from links.destinations.patience import NoResponse, PatientReads
from testing.polling import happens


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host hears nothing."""
    monkeypatch.setattr(patience, "is_hearing", lambda: False)
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.01)


def returns(reads: PatientReads, value: str) -> bool:
    try:
        return reads.read(lambda: value) == value
    except NoResponse:
        return False


@pytest.mark.usefixtures("silent")
def test_nobody_waits_for_a_read_that_does_not_end_until_the_database_responds_again() -> None:
    reads, ended, begun = PatientReads(), threading.Event(), []

    def load() -> str:
        begun.append(1)
        ended.wait()
        return "late"

    for _ in range(3):
        with pytest.raises(NoResponse):
            reads.read(load)
    assert len(begun) == 1
    ended.set()
    assert happens(lambda: returns(reads, "again"), within=10)


@pytest.mark.usefixtures("silent")
def test_errors_of_the_database_reach_the_caller_and_are_tried_again_in_the_background() -> None:
    reads = PatientReads()

    def fail() -> str:
        raise OperationalError("refused")

    with pytest.raises(OperationalError, match="refused"):
        reads.read(fail)
    assert happens(lambda: returns(reads, "again"), within=10)


def test_a_host_that_hears_reads_in_the_same_thread() -> None:
    assert PatientReads().read(threading.get_ident) == threading.get_ident()
