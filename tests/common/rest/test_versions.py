from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection, transaction
from pytest_django.fixtures import Settings

from common.host import cache_versions, state


@pytest.fixture(autouse=True)
def versions_file(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    settings.VERSIONS_FILE = tmp_path / "run" / "versions"
    cache_versions.counters.cache_clear()
    yield settings.VERSIONS_FILE
    cache_versions.counters.cache_clear()


SPRING = cache_versions.counter_of_code("spring")


def changed(before: list[int]) -> set[int]:
    return {counter for counter, number in enumerate(cache_versions.counters()) if number != before[counter]}


def bump_spring() -> None:
    cache_versions.bump(codes=["spring"])


def test_a_change_of_codes_and_hosts_changes_their_counters_and_no_others() -> None:
    before = list(cache_versions.counters())

    cache_versions.bump(codes=["spring", "Summer"], hosts=["go.example.com"])

    assert changed(before) == {
        cache_versions.counter_of_code("spring"),
        cache_versions.counter_of_unknown("spring"),
        cache_versions.counter_of_code("Summer"),
        cache_versions.counter_of_unknown("Summer"),
        cache_versions.counter_of_host("go.example.com"),
    }


def test_a_new_code_invalidates_only_unknown_codes() -> None:
    before = list(cache_versions.counters())

    cache_versions.bump(new_codes=["spring"])

    assert changed(before) == {cache_versions.counter_of_unknown("spring")}


def test_a_change_of_anything_changes_every_counter() -> None:
    before = list(cache_versions.counters())

    cache_versions.bump_all()

    assert len(changed(before)) == cache_versions.COUNTERS


def test_a_code_and_a_host_of_the_same_name_are_distinct() -> None:
    assert cache_versions.counter_of_code("localhost") != cache_versions.counter_of_host("localhost")


def test_a_number_is_never_reused() -> None:
    seen = set()
    for _ in range(1000):
        cache_versions.bump(codes=["spring"])
        seen.add(cache_versions.counters()[SPRING])

    assert len(seen) == 1000


@pytest.mark.slow
def test_changes_are_visible_to_other_processes_at_once(versions_file: Path) -> None:
    program = (
        "import django; django.setup(); from common.host import cache_versions as versions\n"
        "counter = versions.counter_of_code('spring')\n"
        "print(versions.counters()[counter], flush=True); input(); print(versions.counters()[counter], flush=True)\n"
        "versions.bump(codes=['spring']); print(versions.counters()[counter], flush=True)"
    )
    environment = {
        **os.environ,
        "VAR_DIR": str(versions_file.parents[1]),
        "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
    }
    counter = cache_versions.counter_of_code("spring")
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert int(other.stdout.readline()) == cache_versions.counters()[counter] == 0
        cache_versions.bump(codes=["spring"])
        ours = cache_versions.counters()[counter]
        other.stdin.write("\n")
        other.stdin.flush()
        assert int(other.stdout.readline()) == ours
        assert int(other.stdout.readline()) == cache_versions.counters()[counter] != ours


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("bump", [bump_spring, cache_versions.bump_all])
def test_a_change_in_a_transaction_gets_a_new_number_when_committed(bump: Callable[[], None]) -> None:
    with transaction.atomic():
        before = cache_versions.counters()[SPRING]
        with transaction.atomic():
            bump()
        meanwhile = cache_versions.counters()[SPRING]

    assert len({before, meanwhile, cache_versions.counters()[SPRING]}) == 3


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_change_leaves_the_final_number_unchanged() -> None:
    with transaction.atomic():
        with transaction.atomic():
            bump_spring()
            transaction.set_rollback(True)
        meanwhile = cache_versions.counters()[SPRING]

    assert cache_versions.counters()[SPRING] == meanwhile


@pytest.mark.django_db(transaction=True)
def test_many_changes_of_a_transaction_are_applied_together_at_commit() -> None:
    codes = [f"code{number}" for number in range(1000)]
    changed_counters = {
        counter_of(code)
        for code in codes
        for counter_of in (cache_versions.counter_of_code, cache_versions.counter_of_unknown)
    }
    with transaction.atomic():
        cache_versions.bump(codes=codes)
        assert len(connection.run_on_commit) == 1
        meanwhile = list(cache_versions.counters())

    assert changed(meanwhile) == changed_counters


def test_the_versions_file_is_readable_by_its_account_only(versions_file: Path) -> None:
    cache_versions.counters()

    assert versions_file.stat().st_mode & 0o777 == 0o600
    assert versions_file.stat().st_size == cache_versions.COUNTERS * 8


def test_a_gap_changes_every_counter_but_reports_no_changed_link() -> None:
    before, numbers = list(cache_versions.counters()), state.revisions_of("go.example.com", "spring")

    cache_versions.expire_caches()

    assert len(changed(before)) == cache_versions.COUNTERS
    assert state.revisions_of("go.example.com", "spring") == numbers
