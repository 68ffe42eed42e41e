"""The journal's file system becomes read-only or full. Visitors notice nothing, and the operator learns of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from testing.service.frozen import audit, follow
from testing.service.hosts import make_folder
from testing.service.journal_disk import JournalDisk, why_none
from testing.service.running import Service, clicks_of, eventually

pytestmark = pytest.mark.slow

CLICKS = 20


@pytest.fixture
def service() -> Iterator[Service]:
    if reason := why_none():
        pytest.skip(f"NOT TESTED: {reason}.")
    service = Service(make_folder())
    try:
        yield service
    finally:
        service.end()


@pytest.fixture
def disk(service: Service) -> JournalDisk:
    return JournalDisk(service)


def metrics_of(service: Service) -> dict[str, float]:
    response = service.call_internal("/metrics")
    assert response.status == 200
    families = text_string_to_metric_families(response.body.decode())
    return {
        sample.name: sample.value for family in families for sample in family.samples if not sample.labels
    }


def parts_of(service: Service) -> tuple[int, Any]:
    response = service.call_internal("/readyz")
    return response.status, response.json()


def assert_unwritable(
    service: Service, link: dict[str, Any], followed: int, before: dict[str, float], reason: str
) -> None:
    """Follow the link, which has been followed so often, and check what the operator sees."""
    follow(service, link, CLICKS)
    eventually(lambda: clicks_of(service, service.owner.api_key, link) == followed + CLICKS)
    eventually(lambda: parts_of(service)[1]["changes"] == "ok")
    status, parts = parts_of(service)
    assert (status, parts.pop("journal")) == (503, f"it cannot be written: {reason}")
    assert parts.pop("status") == "unavailable"
    assert set(parts.values()) == {"ok"}
    public = service.call("GET", "/readyz")
    assert (public.status, public.json()) == (503, {"status": "unavailable"})
    # The startup probe of deploy/kubernetes.yaml: a restart would not repair the disk.
    assert service.call_internal("/readyz?exclude=journal").status == 200
    now = metrics_of(service)
    assert now.keys() == before.keys()
    expected = {
        "database_up": 1,
        "journal_writable": 0,
        "clicks_dropped_total": 0,
        "journal_backlog_bytes": 0,
    }
    assert {name: now[f"shortener_{name}"] for name in expected} == expected
    assert now["shortener_clicks_to_database_total"] > before["shortener_clicks_to_database_total"]


def counted_once(service: Service, link: dict[str, Any], clicks: int) -> None:
    eventually(lambda: clicks_of(service, service.owner.api_key, link) >= clicks)
    assert clicks_of(service, service.owner.api_key, link) == clicks
    assert audit(service) == "0 differences.\n"


def test_a_read_only_journal_stops_neither_visitors_nor_counting_nor_metrics(
    service: Service, disk: JournalDisk
) -> None:
    disk.start()
    eventually(service.is_healthy)
    link = service.create_link(service.owner.api_key)
    follow(service, link, CLICKS)
    before = metrics_of(service)
    assert before["shortener_journal_writable"] == 1
    assert before["shortener_clicks_to_database_total"] == 0
    disk.fail()
    assert_unwritable(service, link, CLICKS, before, "Read-only file system")
    service.stop()
    disk.repair()
    # A start does not need to write to it either.
    disk.start(read_only=True)
    before = dict.fromkeys(before, 0.0)
    assert_unwritable(service, link, 2 * CLICKS, before, "Read-only file system")
    service.stop()
    disk.start()
    eventually(service.is_healthy)
    follow(service, link, CLICKS)
    counted_once(service, link, 4 * CLICKS)
    assert metrics_of(service)["shortener_journal_writable"] == 1


def test_a_full_journal_stops_neither_visitors_nor_counting_nor_metrics(
    service: Service, disk: JournalDisk
) -> None:
    disk.start()
    eventually(service.is_healthy)
    link = service.create_link(service.owner.api_key)
    follow(service, link, CLICKS)
    before = metrics_of(service)
    disk.fill()

    # The last block of the segment takes some more clicks.
    def is_diverted() -> bool:
        follow(service, link, 1)
        return metrics_of(service)["shortener_clicks_to_database_total"] > 0

    follows = CLICKS
    while not is_diverted():
        follows += 1
    follows += 1
    assert_unwritable(service, link, follows, before, "No space left on device")
    disk.free()
    follow(service, link, CLICKS)
    counted_once(service, link, follows + 2 * CLICKS)
    eventually(service.is_ready)
    assert metrics_of(service)["shortener_journal_writable"] == 1


def test_a_full_disk_kills_no_process_that_records_a_change(service: Service) -> None:
    """The numbers of changed links are in a mapped file."""
    disk = JournalDisk(service, "run")
    disk.start()
    eventually(service.is_healthy)
    disk.fill()
    codes = [service.create_link(service.owner.api_key)["shortCode"] for _ in range(CLICKS)]
    assert [service.call("GET", f"/{code}").status for code in codes] == [302] * CLICKS
    assert "SIGBUS" not in service.stderr
    disk.free()
