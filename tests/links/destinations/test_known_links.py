from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.host import cache_versions
from common.host.state import microseconds, revisions_of
from links.destinations.known_links import KnownLinks
from testing.polling import DEADLINE

SITE, CODE = "go.example.com", "spring"
PACKED = b'{"location":"https://example.com/page"}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "links"


def opened(path: Path, entries: int = 1_000, size: int = 10_000_000, secret: str = "secret") -> KnownLinks:
    """Open the file like another process of the host."""
    return KnownLinks(path, entries=entries, size=size, secret=secret)


@pytest.fixture
def known(path: Path) -> Iterator[KnownLinks]:
    known = opened(path)
    known.remember(SITE, CODE, revisions_of(SITE, CODE), PACKED, read_at=microseconds())
    known.flush()
    return known


def test_all_processes_of_a_host_share_the_entries(known: KnownLinks, path: Path) -> None:
    assert known.recall(SITE, CODE) == PACKED
    assert opened(path).recall(SITE, CODE) == PACKED
    assert opened(path).recall(SITE, "summer") is None
    assert opened(path).recall("", CODE) is None


def test_a_change_that_reached_the_host_invalidates_the_entry(path: Path) -> None:
    changes = (
        lambda: cache_versions.bump(codes=[CODE]),
        lambda: cache_versions.bump(hosts=[SITE]),
        cache_versions.bump_all,
    )
    for change in changes:
        known = opened(path)
        known.remember(SITE, CODE, revisions_of(SITE, CODE), PACKED, read_at=microseconds())
        known.flush()
        assert known.recall(SITE, CODE) == PACKED

        change()

        assert known.recall(SITE, CODE) is None


def test_expired_caches_keep_the_entry(known: KnownLinks) -> None:
    cache_versions.expire_caches()

    assert known.recall(SITE, CODE) == PACKED


def test_a_change_during_the_read_invalidates_the_entry(path: Path) -> None:
    known, numbers = opened(path), revisions_of(SITE, CODE)
    cache_versions.bump(codes=[CODE])

    known.remember(SITE, CODE, numbers, PACKED, read_at=microseconds())
    known.flush()

    assert known.recall(SITE, CODE) is None


def test_an_uncacheable_link_deletes_its_entry(known: KnownLinks) -> None:
    known.remember(SITE, CODE, revisions_of(SITE, CODE), None, read_at=microseconds())
    known.flush()

    assert known.recall(SITE, CODE) is None


def test_the_oldest_entries_are_evicted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("links.destinations.known_links.TRIM_EVERY", 1)
    known = opened(path, entries=10)
    for number in range(25):
        known.remember(
            SITE, f"code{number}", revisions_of(SITE, f"code{number}"), PACKED, read_at=microseconds()
        )
        known.flush()

    assert [number for number in range(25) if known.recall(SITE, f"code{number}")] == [*range(15, 25)]


def test_a_full_file_is_trimmed(path: Path) -> None:
    known = opened(path, size=300_000)
    for number in range(2_000):
        known.remember(
            SITE, f"code{number}", revisions_of(SITE, f"code{number}"), PACKED * 10, read_at=microseconds()
        )
        if number % 100 == 0:
            known.flush()
    known.flush()
    known.remember(SITE, CODE, revisions_of(SITE, CODE), PACKED, read_at=microseconds())
    known.flush()

    assert known.recall(SITE, CODE) == PACKED
    assert path.stat().st_size <= 300_000


def test_the_file_content_is_encrypted(known: KnownLinks, path: Path) -> None:
    files = [*path.parent.iterdir()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    content = b"".join(file.read_bytes() for file in files)
    assert b"example.com" not in content
    assert CODE.encode() not in content
    assert opened(path, secret="another").recall(SITE, CODE) is None


def test_an_entry_that_was_moved_or_altered_is_not_used(known: KnownLinks, path: Path) -> None:
    known.remember(
        SITE,
        "other",
        revisions_of(SITE, "other"),
        b'{"location":"https://example.org/"}',
        read_at=microseconds(),
    )
    known.flush()
    with sqlite3.connect(path) as database:
        (sealed,) = database.execute("SELECT sealed FROM link ORDER BY number DESC LIMIT 1").fetchone()
        database.execute("UPDATE link SET sealed = ?", [sealed])
    database.close()

    assert known.recall(SITE, CODE) is None


def test_a_damaged_file_is_replaced(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database" * 1_000)
    known = opened(path)
    assert known.recall(SITE, CODE) is None

    for _ in range(2):
        known.remember(SITE, CODE, revisions_of(SITE, CODE), PACKED, read_at=microseconds())
        known.flush()

    assert known.recall(SITE, CODE) == PACKED


def test_a_frozen_writer_blocks_no_reads(known: KnownLinks, path: Path) -> None:
    with sqlite3.connect(path, isolation_level=None) as frozen:
        frozen.execute("BEGIN IMMEDIATE")
        known.remember(SITE, "summer", revisions_of(SITE, "summer"), PACKED, read_at=microseconds())

        assert known.recall(SITE, CODE) == PACKED
        assert known.recall(SITE, "summer") is None
        frozen.rollback()
    frozen.close()
    known.close()


def test_an_entry_is_written_once_a_frozen_writer_continues(
    known: KnownLinks, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_failed = threading.Event()
    monkeypatch.setattr("links.destinations.known_links.BUSY_TIMEOUT_SECONDS", 0.01)
    monkeypatch.setattr("links.destinations.known_links.sleep", lambda _: has_failed.set())
    with sqlite3.connect(path, isolation_level=None) as frozen:
        frozen.execute("BEGIN IMMEDIATE")
        other = opened(path)
        other.remember(SITE, "summer", revisions_of(SITE, "summer"), PACKED, read_at=microseconds())
        assert has_failed.wait(DEADLINE)
        frozen.rollback()
    frozen.close()
    other.close()

    assert known.recall(SITE, "summer") == PACKED


def test_a_closed_cache_leaves_no_open_file(known: KnownLinks, path: Path) -> None:
    def opened_files() -> list[str]:
        return [str(link.resolve()) for link in Path("/proc/self/fd").iterdir()]

    known.remember(SITE, "summer", revisions_of(SITE, "summer"), PACKED, read_at=microseconds())
    assert known.recall(SITE, CODE) == PACKED

    known.close()

    assert not [name for name in opened_files() if name.startswith(str(path.resolve()))]
    reader = opened(path)
    assert reader.recall(SITE, "summer") == PACKED
    reader.close()
