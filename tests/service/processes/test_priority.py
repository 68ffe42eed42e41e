"""Redirects take priority over all other work when the processors are saturated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testing.service import processes
from testing.service.running import Service, eventually

pytestmark = pytest.mark.slow

LOWEST = 19


def usual() -> int:
    """The service inherits the niceness of the tests."""
    return os.getpriority(os.PRIO_PROCESS, 0)


def lowered() -> int:
    return min(usual() + 10, LOWEST)


@pytest.fixture
def priorities(service: Service) -> dict[str, int]:
    """A process of each kind."""
    (redirects,) = service.accepting()
    (api,) = (worker for worker in service.workers() if worker != redirects)
    # An API worker lowers its priority a moment after it has closed the listening socket.
    eventually(lambda: os.getsid(api) != os.getsid(redirects) and _niceness(api) == lowered())
    children = ("drain_clicks", "housekeeping", "recheck_domains", "check_destinations", "deliver_events")
    return {"redirects": redirects, "API": api} | {name: service.child(name) for name in children}


def test_redirects_have_a_higher_priority_than_all_other_work(
    priorities: dict[str, int],
) -> None:
    assert {name: _niceness(pid) for name, pid in priorities.items()} == {
        "redirects": usual(),
        "API": lowered(),
        "drain_clicks": lowered(),
        "housekeeping": lowered(),
        "recheck_domains": lowered(),
        "check_destinations": lowered(),
        "deliver_events": lowered(),
    }


def test_processes_of_lower_priority_have_sessions_of_their_own(priorities: dict[str, int]) -> None:
    own = os.getsid(priorities["redirects"])
    others = [pid for name, pid in priorities.items() if name != "redirects"]

    assert own not in [os.getsid(pid) for pid in others]
    for pid in others:
        group = Path(f"{processes.PROC}/{pid}/autogroup")
        if group.exists():
            # It is set last.
            eventually(lambda group=group: group.read_text().endswith(" nice 10\n"))


def _niceness(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)
