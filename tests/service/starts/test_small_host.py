"""A service with SMALL=yes, as on a host with one processor and 512 MB of memory.

Not every machine lets a test limit the memory of a control group. So this test also measures what the processes use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from local_postgres import EmbeddedPostgres
from testing.service import processes
from testing.service.control_group import ControlGroup, memory_limited
from testing.service.hosts import make_folder
from testing.service.resident import members, peak_memory
from testing.service.running import Connection, Response, Service, eventually

pytestmark = pytest.mark.slow

LIMIT_MIB = 400
CALLS, LINKS_PER_CALL = 20, 500
VISITORS = 4
BACKGROUND = (
    "follow_changes",
    "drain_clicks",
    "housekeeping",
    "recheck_domains",
    "check_destinations",
    "deliver_events",
)


@pytest.fixture(scope="module")
def group() -> Iterator[ControlGroup | None]:
    """None if this machine has no such groups for this account."""
    with memory_limited(LIMIT_MIB) as limited:
        yield limited


@pytest.fixture(scope="module")
def small(group: ControlGroup | None) -> Iterator[Service]:
    python = (sys.executable,) if group is None else group.entered_by(sys.executable)
    service = Service(make_folder(), python=python, SMALL="yes")
    try:
        service.start()
        yield service
    finally:
        service.end()


def create_links(service: Service) -> list[str]:
    """The codes of new links, from bulk calls."""
    key = service.owner.api_key
    codes: list[str] = []
    for call in range(CALLS):
        urls = [{"originalUrl": f"https://example.com/{call}/{number}"} for number in range(LINKS_PER_CALL)]
        headers = {"X_API_Key": key, "Idempotency_Key": f"bulk-{call}"}
        response = answered(lambda: service.call("POST", "/api/urls/bulk", {"urls": urls}, **headers))  # noqa: B023 # called at once
        assert response.status == 200, response
        codes += [result["url"]["shortCode"] for result in response.json()["data"]["results"]]
    return codes


def answered(call: Callable[[], Response]) -> Response:
    """The first response other than 503: on a machine that is too busy, a statement can reach its time limit."""
    return eventually(lambda: response if (response := call()).status != 503 else None)


def statuses(service: Service, codes: list[str]) -> set[int]:
    with closing(Connection(service.port)) as connection:
        return {answered(lambda: connection.call("GET", f"/{code}")).status for code in codes}  # noqa: B023 # called at once


def lasting_processes(service: Service) -> list[int]:
    """All but the loader of the warm start, which ends once it has loaded."""
    background = (service.child(name) for name in BACKGROUND)
    return sorted([service.serve(), service.gunicorn(), *background, *service.workers()])


def total_clicks(service: Service) -> int:
    key = service.owner.api_key
    response = answered(lambda: service.call("GET", "/api/urls/stats", X_API_Key=key))
    clicks: int = response.json()["totalClicks"]
    return clicks


def test_ten_thousand_bulk_links_are_followed_within_the_memory_of_a_small_host(
    small: Service, group: ControlGroup | None
) -> None:
    before, postmaster = lasting_processes(small), small.postmaster()
    with peak_memory(small) as peak:
        codes = create_links(small)
        with ThreadPoolExecutor(VISITORS) as pool:
            shares = [codes[number::VISITORS] for number in range(VISITORS)]
            followed = set().union(*pool.map(lambda share: statuses(small, share), shares))
        eventually(lambda: total_clicks(small) == CALLS * LINKS_PER_CALL)

    assert followed == {302}
    assert (lasting_processes(small), small.postmaster()) == (before, postmaster)
    assert 0 < peak.mib < LIMIT_MIB
    if group is None:
        pytest.skip(
            "NOT TESTED: the kernel's limit of memory, because this account cannot make a control group."
        )
    # Beyond the limit of the group, the kernel kills.
    assert group.killed() == 0


def test_the_embedded_database_has_the_sizes_of_a_small_host(
    small: Service, group: ControlGroup | None
) -> None:
    # Of a host with 512 MB, or of the group if that has less.
    shared_buffers = "32MB" if group is None else "25MB"
    names = ("shared_buffers", "work_mem", "autovacuum_max_workers", "max_connections")
    with psycopg.connect(EmbeddedPostgres(small.var_dir).url) as database:
        sizes = [database.execute(f"SHOW {name}").fetchone() for name in names]

    assert sizes == [(shared_buffers,), ("1MB",), ("1",), ("31",)]


NAMES = {
    *("shortener gunicorn", "shortener follow_changes", "shortener drain_clicks"),
    *("shortener housekeeping", "shortener recheck_domains", "shortener check_destinations"),
    "shortener deliver_events",
}


def names(pids: list[int]) -> list[str]:
    return sorted(b" ".join(filter(None, processes.command_line(pid))).decode() for pid in pids)


def test_every_process_of_the_service_is_named(small: Service) -> None:
    def children() -> list[str]:
        # The guard of the embedded database is a program of its own.
        return [name for name in names(processes.children(small.serve())) if "guard" not in name]

    # A fork has the name of its parent for a moment.
    eventually(lambda: children() == sorted(NAMES))
    eventually(lambda: names(small.workers()) == ["shortener api worker", "shortener redirect worker"])


def test_background_processes_do_not_keep_the_sockets_of_the_service_open(small: Service) -> None:
    internal = int(small.environment["INTERNAL_LISTEN"].rpartition(":")[2])
    pids = [small.child(name) for name in BACKGROUND]
    for port in (small.port, internal):
        assert processes.listening([small.serve()], port)
        # A fork closes its copies once it runs.
        eventually(lambda port=port: not processes.listening(pids, port))


def test_the_members_of_an_installation_are_all_of_its_processes(small: Service) -> None:
    eventually(lambda: set(members(small)) == set(small.processes()))
