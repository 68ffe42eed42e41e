"""CLICK_MIRROR: each click is in two folders, and each is counted once from whichever is left."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings
from rest_framework.test import APIClient

from analytics.counting.pipeline import Drainer
from analytics.journal.backlog import backlog
from analytics.journal.mirror import Mirror
from analytics.journal.writer import journal, journal_error
from shortener_project.backup import write_segments
from testing.analytics.clicks import close_journal
from testing.analytics.journaled import MakeLink, journaled, pk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def mirror(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    close_journal()
    settings.CLICKS_DIR, settings.CLICK_MIRROR = tmp_path / "clicks", tmp_path / "mirror"
    # As the operator does.
    settings.CLICK_MIRROR.mkdir()
    yield settings.CLICK_MIRROR
    close_journal()


@pytest.fixture
def link(make_link: MakeLink) -> dict[str, Any]:
    return make_link()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.segment")}


def drain() -> None:
    call_command("drain_clicks", "--once")


def counted(api: APIClient, link: dict[str, Any]) -> int:
    clicks: int = api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["clickCount"]
    return clicks


def test_both_folders_have_the_same_bytes_until_all_is_counted(
    api: APIClient, link: dict[str, Any], mirror: Path, settings: Settings
) -> None:
    journaled(pk(link), count=3)
    (content,) = contents(mirror).values()
    assert (contents(settings.CLICKS_DIR), bool(content)) == (contents(mirror), True)
    drain()
    # Neither has addresses of counted visitors.
    assert contents(settings.CLICKS_DIR) == contents(mirror)
    assert set(contents(mirror).values()) == {bytes(len(content))}
    close_journal()
    drain()
    assert (counted(api, link), contents(settings.CLICKS_DIR), contents(mirror)) == (3, {}, {})


def test_clicks_of_a_lost_folder_are_counted_once_from_the_mirror(
    api: APIClient, link: dict[str, Any], mirror: Path, settings: Settings
) -> None:
    journaled(pk(link), count=3)
    drain()
    journaled(pk(link), count=4)
    shutil.rmtree(settings.CLICKS_DIR)
    # Its writer still has it.
    drain()
    assert (counted(api, link), len(contents(mirror))) == (3, 1)
    close_journal()
    drain()
    assert (counted(api, link), contents(settings.CLICKS_DIR), contents(mirror)) == (7, {}, {})


def test_a_damaged_segment_is_not_lost(link: dict[str, Any], mirror: Path, settings: Settings) -> None:
    journaled(pk(link))
    close_journal()
    (path,) = settings.CLICKS_DIR.iterdir()
    path.rename(path.with_suffix(".damaged"))
    assert Mirror(mirror).recover(settings.CLICKS_DIR) == 0


def test_a_segment_that_the_database_may_have_forgotten_is_left_to_the_operator(
    link: dict[str, Any], mirror: Path, settings: Settings
) -> None:
    journaled(pk(link))
    close_journal()
    shutil.rmtree(settings.CLICKS_DIR)
    (path,) = mirror.iterdir()
    week_ago = time.time() - 7 * 86_400
    os.utime(path, (week_ago, week_ago))
    assert Mirror(mirror).recover(settings.CLICKS_DIR) == 0
    os.utime(path)
    assert Mirror(mirror).recover(settings.CLICKS_DIR) == 1


def test_a_shortened_segment_is_counted_to_the_end_of_its_copy(
    api: APIClient, link: dict[str, Any], mirror: Path, settings: Settings
) -> None:
    for is_recovered in (True, False):
        journaled(pk(link))
        (name,) = contents(mirror)
        size = (mirror / name).stat().st_size
        journaled(pk(link), count=2)
        close_journal()
        # As a power cut does, or a backup from before the last two.
        os.truncate(settings.CLICKS_DIR / name, size)
        if is_recovered:
            assert Mirror(mirror).recover(settings.CLICKS_DIR) == 1
        drainer = Drainer(settings.CLICKS_DIR, mirror=Mirror(mirror))
        while contents(mirror):
            drainer.drain_batch()
    assert (counted(api, link), contents(settings.CLICKS_DIR)) == (6, {})


def test_a_restore_first_brings_back_what_only_the_mirror_has(
    api: APIClient, link: dict[str, Any], mirror: Path, settings: Settings, tmp_path: Path
) -> None:
    journaled(pk(link))
    (name,) = contents(mirror)
    backup = Path(shutil.copy(settings.CLICKS_DIR / name, tmp_path))
    journaled(pk(link))
    close_journal()
    shutil.rmtree(settings.CLICKS_DIR)
    write_segments([backup])
    assert contents(settings.CLICKS_DIR) == contents(mirror)


def test_segments_are_locked_as_on_nfs(
    link: dict[str, Any], mirror: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    journaled(pk(link))
    close_journal()
    shutil.rmtree(settings.CLICKS_DIR)
    lock = fcntl.flock

    def nfs(file: Any, operation: int) -> None:
        if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", nfs)
    assert Mirror(mirror).recover(settings.CLICKS_DIR) == 1


def test_one_unreadable_segment_does_not_keep_the_others_in_the_mirror(
    api: APIClient, link: dict[str, Any], mirror: Path, settings: Settings
) -> None:
    (mirror / f"{uuid.UUID(int=0)}.segment").mkdir()
    journaled(pk(link))
    close_journal()
    shutil.rmtree(settings.CLICKS_DIR)
    assert backlog(settings.CLICKS_DIR).waiting == sum(path.stat().st_size for path in mirror.iterdir())
    with pytest.raises(CommandError, match="Clicks in the mirror are not counted"):
        drain()
    assert counted(api, link) == 1


def test_a_damaged_record_is_counted_from_the_mirror(
    api: APIClient, link: dict[str, Any], mirror: Path, settings: Settings
) -> None:
    journaled(pk(link))
    (path,) = settings.CLICKS_DIR.iterdir()
    position = path.stat().st_size
    journaled(pk(link), count=2)
    close_journal()
    with path.open("r+b") as file:
        file.seek(position + 20)
        file.write(b"damage")
    drain()
    assert (counted(api, link), list(settings.CLICKS_DIR.glob("*.*")), contents(mirror)) == (3, [], {})


def test_the_addresses_of_an_unfinished_copy_do_not_stay(mirror: Path, settings: Settings) -> None:
    settings.CLICKS_DIR.mkdir()
    drafts = [settings.CLICKS_DIR / f"recovered-{name}.new" for name in ("killed", "running")]
    for draft in drafts:
        draft.write_text("192.0.2.1")
    with drafts[1].open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        Mirror(mirror).recover(settings.CLICKS_DIR)
        assert [draft.exists() for draft in drafts] == [False, True]


def test_a_click_that_the_mirror_does_not_take_is_in_neither_folder(
    link: dict[str, Any], mirror: Path, settings: Settings
) -> None:
    journaled(pk(link))
    before = contents(settings.CLICKS_DIR)
    segment = journal()._segment
    assert segment is not None
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, segment.copies[0].descriptor)
    os.close(full)
    with pytest.raises(OSError, match="No space left on device"):
        journaled(pk(link))
    assert (contents(settings.CLICKS_DIR), contents(mirror)) == (before, before)
    # The next one gets a segment of its own.
    journaled(pk(link))
    assert len(contents(settings.CLICKS_DIR)) == len(contents(mirror)) == 2


def test_a_click_that_the_first_disk_refuses_is_not_kept_by_the_mirror(
    link: dict[str, Any], mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journaled(pk(link))
    before = contents(mirror)
    segment = journal()._segment
    assert segment is not None
    first, failed = segment.copies[1].descriptor, OSError(errno.EIO, "Input/output error")

    def failing(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(descriptor: int, *arguments: Any) -> Any:
            if descriptor == first:
                raise failed
            return call(descriptor, *arguments)

        return wrapper

    for name in ("write", "ftruncate"):
        monkeypatch.setattr(os, name, failing(getattr(os, name)))
    with pytest.raises(OSError, match="Input/output error"):
        journal()._write_to(segment, b"click")
    monkeypatch.undo()
    assert contents(mirror) == before


def test_a_mirror_that_does_not_sync_leaves_the_first_copy_durable(
    link: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    journaled(pk(link))
    segment = journal()._segment
    assert segment is not None
    mirrored, first = (copy.descriptor for copy in segment.copies)
    synced = []

    def fdatasync(descriptor: int) -> None:
        synced.append(descriptor)
        if descriptor == mirrored:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fdatasync)
    journal()._sync_once()
    assert synced[:2] == [mirrored, first]


def test_without_the_mirror_no_click_is_written(
    link: dict[str, Any], mirror: Path, settings: Settings
) -> None:
    mirror.rmdir()
    with pytest.raises(FileNotFoundError):
        journaled(pk(link))
    assert isinstance(journal_error(), FileNotFoundError)
    assert (contents(settings.CLICKS_DIR), mirror.exists()) == ({}, False)
    with pytest.raises(CommandError, match="Clicks in the mirror are not counted"):
        drain()


def test_a_segment_stays_while_its_copy_in_the_mirror_cannot_be_deleted(
    api: APIClient, link: dict[str, Any], mirror: Path, settings: Settings
) -> None:
    journaled(pk(link))
    close_journal()
    (name,) = contents(mirror)
    (mirror / name).unlink()
    (mirror / name).mkdir()
    drainer = Drainer(settings.CLICKS_DIR, mirror=Mirror(mirror))
    assert [drainer.drain_batch() for _ in range(3)] == [1, 0, 0]
    assert list(contents(settings.CLICKS_DIR)) == [name]
    (mirror / name).rmdir()
    assert drainer.drain_batch() == 0
    assert (counted(api, link), contents(settings.CLICKS_DIR)) == (1, {})
