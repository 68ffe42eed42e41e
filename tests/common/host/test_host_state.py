from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from common.host import cache_versions, state

HOST, CODE = "go.example.com", "spring"
HOUR = 3_600


@pytest.fixture(autouse=True)
def file(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    settings.VERSIONS_FILE = tmp_path / "run" / "versions"
    cache_versions.counters.cache_clear()
    state.mapped.cache_clear()
    yield settings.VERSIONS_FILE.with_name("changes")
    cache_versions.counters.cache_clear()
    state.mapped.cache_clear()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Seconds since the machine booted."""
    now = [100]
    monkeypatch.setattr(state.time, "clock_gettime_ns", lambda _: now[0] * 1_000_000_000)
    return now


def test_each_change_that_reaches_the_host_has_a_new_number() -> None:
    before = state.revisions_of(HOST, CODE)
    cache_versions.bump(codes=["summer"], hosts=["go.example.org"], new_codes=[CODE])
    assert state.revisions_of(HOST, CODE) == before

    cache_versions.bump(codes=[CODE])
    code = state.revisions_of(HOST, CODE)
    cache_versions.bump(hosts=[HOST])
    host = state.revisions_of(HOST, CODE)
    cache_versions.bump_all()

    assert len({before, code, host, state.revisions_of(HOST, CODE)}) == 4


def test_the_shared_files_have_their_space_on_the_disk(file: Path) -> None:
    """A write to a mapped page for which a full disk has no space kills the process."""
    cache_versions.counters()
    state.mapped()
    for path in (file, file.with_name("versions")):
        status = path.stat()
        assert 512 * status.st_blocks >= status.st_size > 0


def test_without_any_message_the_silence_is_infinite() -> None:
    assert state.unheard_seconds() == float("inf")
    assert not state.is_hearing()


def test_each_silence_is_noticed_once(clock: list[int]) -> None:
    assert [state.has_fallen_silent() for _ in range(2)] == [True, False]
    seconds = int(state.HEARING_SECONDS) + 1
    for _ in range(2):
        state.note_heard()
        assert state.is_hearing()
        assert not state.has_fallen_silent()
        clock[0] += seconds
        assert state.unheard_seconds() == seconds
        assert not state.is_hearing()
        assert [state.has_fallen_silent() for _ in range(2)] == [True, False]


def test_a_silence_invalidates_every_cache_and_changes_no_number() -> None:
    before, numbers = cache_versions.versions_of(HOST, CODE), state.revisions_of(HOST, CODE)

    cache_versions.expire_caches_after_silence()

    assert not before.known.is_current
    assert state.revisions_of(HOST, CODE) == numbers


def test_the_file_survives_processes_and_is_readable_by_its_account_only(file: Path) -> None:
    numbers = state.revisions_of(HOST, CODE)
    code = f"""
import os, django
from django.conf import settings
django.setup()
from pathlib import Path
settings.VERSIONS_FILE = Path({str(file.with_name("versions"))!r})
from common.host import state
print(list(state.revisions_of({HOST!r}, {CODE!r})))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([*numbers])
    assert file.stat().st_mode & 0o777 == 0o600


def test_after_a_reboot_the_file_is_not_used(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.note_heard()
    numbers = state.revisions_of(HOST, CODE)
    state.mapped.cache_clear()
    assert state.is_hearing()

    (tmp_path / "boot_id").write_text("another")
    monkeypatch.setattr(state, "BOOT_ID", tmp_path / "boot_id")
    state.mapped.cache_clear()

    assert state.unheard_seconds() == float("inf")
    assert state.revisions_of(HOST, CODE) != numbers
