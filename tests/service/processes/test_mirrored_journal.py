"""A host loses all its processes and the disk of its journal, or the mirror of that. No answered click is lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.service.frozen import audit, follow
from testing.service.hosts import make_folder, one_host, stopped
from testing.service.journal_disk import JournalDisk, why_none
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, clicks_of, eventually

pytestmark = pytest.mark.slow

CLICKS = 20


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.segment")}


def test_every_answered_click_is_counted_once_after_the_journal_is_lost(
    make_database: Callable[[], str], tmp_path: Path
) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    settings = {"CLICK_MIRROR": str(mirror), "CLICK_SYNC": "strict", **LONG_TIMEOUTS}
    with one_host(make_database(), **settings) as host:
        key = host.owner.api_key
        link, rescue = host.create_link(key), make_folder()
        for clicks in CLICKS, 2 * CLICKS:
            with stopped([host.child("drain_clicks")]):
                follow(host, link, CLICKS)
                host.kill_everything()
            shutil.rmtree(host.var_dir / "clicks")
            if clicks == CLICKS:
                # Another host counts them, with nothing but the mirror.
                done = host.manage("drain_clicks", "--once", VAR_DIR=str(rescue))
                assert done.returncode == 0, done.stderr
                assert list(mirror.iterdir()) == []
            host.start()
            eventually(host.is_ready)
            eventually(lambda clicks=clicks: clicks_of(host, key, link) == clicks)
            assert host.manage("audit_counters").stdout == "0 differences.\n"
        shutil.rmtree(rescue)


def test_a_mirror_that_fails_stops_neither_visitors_nor_counting(
    make_service: Callable[..., Service],
) -> None:
    if reason := why_none():
        pytest.skip(f"NOT TESTED: {reason}.")
    service = make_service()
    service.environment["CLICK_MIRROR"] = str(service.var_dir / "mirror")
    disk, journal = JournalDisk(service, "mirror"), service.var_dir / "clicks"
    disk.start()
    link = service.create_link(service.owner.api_key)
    follow(service, link, CLICKS)
    disk.fail()
    follow(service, link, CLICKS)
    assert service.call_internal("/readyz").json()["journal"] == "it cannot be written: Read-only file system"
    eventually(lambda: clicks_of(service, service.owner.api_key, link) == 2 * CLICKS)
    # What is counted stays here while it cannot be deleted there.
    (segment,) = journal.glob("*.segment")
    service.stop()
    disk.repair()
    disk.start()
    eventually(service.is_ready)
    follow(service, link, CLICKS)
    eventually(lambda: clicks_of(service, service.owner.api_key, link) == 3 * CLICKS)
    eventually(lambda: not segment.exists())
    assert audit(service) == "0 differences.\n"
    eventually(lambda: names_in(disk.folder) == names_in(journal))
