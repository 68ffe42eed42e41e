"""Each account has a personal workspace with its own number, whichever program creates the account."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.db.utils import IntegrityError
from rest_framework.test import APIClient

from accounts.models import Member, User, Workspace
from accounts.services import NewAccount
from links.models import Link
from testing.accounts.workspaces import team


def test_an_account_owns_a_personal_workspace_with_its_number(alice: NewAccount) -> None:
    workspace = Workspace.objects.get(account=alice.user)
    assert (workspace.pk, workspace.public_id, workspace.name, workspace.plan) == (
        alice.user.pk,
        alice.user.public_id,
        "Personal",
        "pro",
    )
    member = Member.objects.get(workspace=workspace)
    assert (member.user, member.role, workspace.created_at) == (alice.user, "owner", alice.user.created_at)


def test_an_account_that_any_program_inserts_has_a_workspace(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_user (public_id, email, password, first_name, last_name, plan, is_active, is_staff,"
            " is_superuser) VALUES (gen_random_uuid(), 'by@sql.example', '!', '', '', 'free', true, false, false)"
        )
    user = User.objects.get(email="by@sql.example")
    assert user.workspace.members.get().role == "owner"


def test_the_workspace_of_a_team_never_has_the_number_of_an_account(alice: NewAccount) -> None:
    numbers = []
    for number in range(3):
        numbers.append(team(alice, f"team{number}").pk)
        numbers.append(User.objects.create(email=f"user{number}@example.com", password="!").pk)
    assert numbers == sorted(set(numbers))


def test_the_plan_of_a_personal_workspace_is_that_of_its_account(alice: NewAccount) -> None:
    User.objects.filter(pk=alice.user.pk).update(plan="free")
    assert Workspace.objects.get(account=alice.user).plan == "free"


@pytest.mark.parametrize("change", ["account_id = NULL", "plan = 'pro'", "id = 1000000"])
def test_a_workspace_is_personal_or_has_a_plan_of_its_own(alice: NewAccount, change: str) -> None:
    with pytest.raises(IntegrityError), connection.cursor() as cursor:
        cursor.execute(f"UPDATE accounts_workspace SET {change} WHERE account_id = %s", [alice.user.pk])


def test_links_of_a_personal_workspace_store_no_creator(
    api: APIClient, alice: NewAccount, make_link: Callable[..., dict[str, Any]]
) -> None:
    link = make_link()
    stored = Link.objects.get()
    assert (stored.owner_id, stored.creator_id) == (alice.user.pk, None)
    assert api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["creator"] == {
        "_id": str(alice.user.public_id),
        "firstName": "Ada",
        "lastName": "Lovelace",
        "email": "alice@example.com",
    }
