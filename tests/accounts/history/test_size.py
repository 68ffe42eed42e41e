"""Housekeeping bounds the size of a history."""

from __future__ import annotations

import pytest
from django.db import connection

from accounts import history
from accounts.history import record_change, trim_large_histories
from accounts.models import Change, HistorySize, Workspace
from accounts.services import NewAccount
from accounts.workspaces import delete_workspace
from testing.accounts.workspaces import team

pytestmark = pytest.mark.django_db


def record(owner: Workspace, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        value = f"{number:05} " + "".join(chr(0x100 + (number * 31 + at * 17) % 5000) for at in range(1000))
        record_change(
            owner_id=owner.pk, object_id=owner.public_id, action="link.updated", after={"title": value}
        )


def kept(owner: Workspace) -> list[int]:
    rows = Change.objects.filter(owner=owner, action="link.updated").order_by("id")
    return [int(row.after["title"][:5]) for row in rows]


def size(owner: Workspace) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT sum({history._SIZE}) FROM accounts_change c WHERE owner_id = %s", [owner.pk])
        [(total,)] = cursor.fetchall()
    return int(total)


def test_the_oldest_changes_beyond_the_limit_are_deleted(alice: NewAccount, stranger: NewAccount) -> None:
    record(alice.workspace, 600)
    record(stranger.workspace, 200)
    assert size(alice.workspace) > 1_000_000
    trim_large_histories(1)
    rest = kept(alice.workspace)
    assert rest == list(range(600 - len(rest), 600))
    assert 0 < 1_000_000 - size(alice.workspace) < 5_000
    assert kept(stranger.workspace) == list(range(200))

    # Later changes are added to what was counted.
    record(alice.workspace, 100, first=600)
    trim_large_histories(1)
    assert kept(alice.workspace)[-1] == 699
    assert 0 < 1_000_000 - size(alice.workspace) < 5_000
    assert HistorySize.objects.get(owner=alice.workspace).bytes == size(alice.workspace)


def test_a_history_that_shrank_meanwhile_is_measured_before_anything_is_deleted(alice: NewAccount) -> None:
    record(alice.workspace, 300)
    trim_large_histories(1)
    Change.objects.all().delete()
    record(alice.workspace, 300)
    trim_large_histories(1)
    assert kept(alice.workspace) == list(range(300))
    assert HistorySize.objects.get(owner=alice.workspace).bytes == size(alice.workspace)


def test_without_a_limit_all_stays(alice: NewAccount) -> None:
    record(alice.workspace, 600)
    trim_large_histories(0)
    assert kept(alice.workspace) == list(range(600))


def test_the_size_of_a_deleted_workspace_is_forgotten(alice: NewAccount) -> None:
    workspace = team(alice)
    record(workspace, 1)
    trim_large_histories(1)
    assert HistorySize.objects.filter(owner=workspace).exists()
    delete_workspace(workspace=workspace, actor=alice.user)
    assert not HistorySize.objects.filter(owner_id=workspace.pk).exists()
