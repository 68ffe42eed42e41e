"""Who stands back when there is more to do than the processors can."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.service import processes
from tests.service.running import Service, eventually


@pytest.fixture
def priorities(service: Service) -> dict[str, int]:
    """Of every kind of process, as it counts within its session."""
    eventually(lambda: len(service.workers()) == 2)
    redirects, api = sorted(service.workers(), key=_niceness)
    children = ("drain_clicks", "housekeeping", "recheck_domains")
    return {"redirects": redirects, "API": api} | {name: service.child(name) for name in children}


def test_who_follows_a_link_goes_first_and_who_only_works_behind_the_scenes_last(
    priorities: dict[str, int],
) -> None:
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    assert {name: _niceness(pid) - usual for name, pid in priorities.items()} == {
        "redirects": 0,
        "API": 10,
        "drain_clicks": 10,
        "housekeeping": 10,
        "recheck_domains": 10,
    }


def test_whoever_stands_back_does_so_as_a_session(priorities: dict[str, int]) -> None:
    own = os.getsid(priorities["redirects"])
    others = [pid for name, pid in priorities.items() if name != "redirects"]

    assert own not in [os.getsid(pid) for pid in others]
    for pid in others:
        group = Path(f"{processes.PROC}/{pid}/autogroup")
        if group.exists():
            assert group.read_text().endswith(" nice 10\n")


def _niceness(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)
