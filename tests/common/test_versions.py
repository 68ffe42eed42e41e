from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection, transaction
from pytest_django.fixtures import Settings

from common import versions


@pytest.fixture(autouse=True)
def versions_file(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    settings.VERSIONS_FILE = tmp_path / "run" / "versions"
    versions.slots.cache_clear()
    yield settings.VERSIONS_FILE
    versions.slots.cache_clear()


SPRING = versions.slot_of_code("spring")


def changed(before: list[int]) -> set[int]:
    return {slot for slot, number in enumerate(versions.slots()) if number != before[slot]}


def bump_spring() -> None:
    versions.bump(codes=["spring"])


def test_a_change_of_codes_and_hosts_changes_their_slots_and_no_others() -> None:
    before = list(versions.slots())

    versions.bump(codes=["spring", "Summer"], hosts=["go.example.com"])

    assert changed(before) == {
        versions.slot_of_code("spring"),
        versions.slot_of_unknown("spring"),
        versions.slot_of_code("Summer"),
        versions.slot_of_unknown("Summer"),
        versions.slot_of_host("go.example.com"),
    }


def test_a_new_code_is_no_longer_unknown_and_changes_nothing_that_is_known() -> None:
    before = list(versions.slots())

    versions.bump(new_codes=["spring"])

    assert changed(before) == {versions.slot_of_unknown("spring")}


def test_a_change_of_anything_changes_every_slot() -> None:
    before = list(versions.slots())

    versions.bump_all()

    assert len(changed(before)) == versions.SLOTS


def test_a_code_and_a_host_of_the_same_name_are_two_things() -> None:
    assert versions.slot_of_code("localhost") != versions.slot_of_host("localhost")


def test_a_number_never_comes_back() -> None:
    seen = set()
    for _ in range(1000):
        versions.bump(codes=["spring"])
        seen.add(versions.slots()[SPRING])

    assert len(seen) == 1000


def test_another_process_sees_a_change_at_once_and_makes_it_seen(versions_file: Path) -> None:
    program = (
        "import django; django.setup(); from common import versions; slot = versions.slot_of_code('spring')\n"
        "print(versions.slots()[slot], flush=True); input(); print(versions.slots()[slot], flush=True)\n"
        "versions.bump(codes=['spring']); print(versions.slots()[slot], flush=True)"
    )
    environment = {
        **os.environ,
        "VAR_DIR": str(versions_file.parents[1]),
        "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
    }
    slot = versions.slot_of_code("spring")
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert int(other.stdout.readline()) == versions.slots()[slot] == 0
        versions.bump(codes=["spring"])
        ours = versions.slots()[slot]
        other.stdin.write("\n")
        other.stdin.flush()
        assert int(other.stdout.readline()) == ours
        assert int(other.stdout.readline()) == versions.slots()[slot] != ours


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("bump", [bump_spring, versions.bump_all])
def test_a_change_in_a_transaction_has_another_number_once_it_is_committed(bump: Callable[[], None]) -> None:
    with transaction.atomic():
        before = versions.slots()[SPRING]
        with transaction.atomic():
            bump()
        meanwhile = versions.slots()[SPRING]

    assert len({before, meanwhile, versions.slots()[SPRING]}) == 3


@pytest.mark.django_db(transaction=True)
def test_a_change_that_is_undone_has_no_other_number_at_the_end() -> None:
    with transaction.atomic():
        with transaction.atomic():
            bump_spring()
            transaction.set_rollback(True)
        meanwhile = versions.slots()[SPRING]

    assert versions.slots()[SPRING] == meanwhile


@pytest.mark.django_db(transaction=True)
def test_many_changes_at_once_wait_for_the_commit_as_one() -> None:
    codes = [f"code{number}" for number in range(1000)]
    theirs = {
        slot_of(code) for code in codes for slot_of in (versions.slot_of_code, versions.slot_of_unknown)
    }
    with transaction.atomic():
        versions.bump(codes=codes)
        assert len(connection.run_on_commit) == 1
        meanwhile = list(versions.slots())

    assert changed(meanwhile) == theirs


def test_what_is_known_of_a_host_is_readable_for_its_account_alone(versions_file: Path) -> None:
    versions.slots()

    assert versions_file.stat().st_mode & 0o777 == 0o600
    assert versions_file.stat().st_size == versions.SLOTS * 8
