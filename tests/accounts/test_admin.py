"""Accounts as operators change, disable and give new keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import ApiKey, User
from accounts.services import NewAccount
from tests.admin import Operator, audit, told
from tests.conftest import PASSWORD, account, bearer_client

USERS = "accounts/user/"


def only(*accounts: NewAccount) -> Any:
    return User.objects.filter(pk__in=[each.user.pk for each in accounts])


def form_of(user: User, **changes: str) -> dict[str, str]:
    fields = {
        "email": user.email,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "plan": user.plan,
    }
    return fields | changes


@pytest.fixture
def clerk(db: None) -> Operator:
    """May change accounts, and is no superuser."""
    user = account("clerk@example.com").user
    user.is_staff = True
    user.save()
    user.user_permissions.set(Permission.objects.filter(codename__in=["change_user", "view_user"]))
    client = Operator(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    client.force_login(user)
    return client


@pytest.mark.parametrize("accounts", [1, 3])
def test_a_list_takes_as_many_queries_however_long_it_is(operator: Operator, accounts: int) -> None:
    for number in range(accounts):
        account(f"{number}@example.com")
    assert len(operator.rows(USERS)) == accounts + 1
    assert operator.queries(USERS) == 4
    assert operator.queries(USERS, q="example") == 4
    assert operator.queries(USERS, plan="free", is_active__exact="1") == 4
    assert operator.queries(f"{USERS}{User.objects.latest('pk').pk}/change/") == 5


def test_the_plan_is_changed_and_nothing_else(operator: Operator, alice: NewAccount) -> None:
    before = User.objects.filter(pk=alice.user.pk).values().get()
    answer = operator.send(f"{USERS}{alice.user.pk}/change/", **form_of(alice.user, plan="enterprise"))
    assert answer.status_code == 302
    assert User.objects.filter(pk=alice.user.pk).values().get() == {**before, "plan": "enterprise"}
    assert audit() == [("operator@example.com", "alice@example.com", "Changed Plan.")]


def test_an_e_mail_is_kept_in_lower_case_and_once(operator: Operator, alice: NewAccount) -> None:
    page = f"{USERS}{alice.user.pk}/change/"
    assert operator.send(page, **form_of(alice.user, email="Ada@Example.com")).status_code == 302
    assert User.objects.get(pk=alice.user.pk).email == "ada@example.com"
    taken = operator.send(page, **form_of(alice.user, email="OPERATOR@example.com"))
    assert (taken.status_code, len(taken.context["errors"])) == (200, 1)


@pytest.mark.django_db(transaction=True)
def test_a_disabled_account_is_out_at_once_and_its_links_go_on(
    operator: Operator,
    alice: NewAccount,
    api: APIClient,
    make_link: Callable[..., dict[str, Any]],
    visitor: Client,
) -> None:
    link, token = make_link(), bearer_client(alice.user)

    def statuses() -> list[int]:
        login = APIClient(headers={"host": "sho.rt"}).post(
            "/api/auth/login", {"email": alice.user.email, "password": PASSWORD}
        )
        return [api.get("/api/urls").status_code, token.get("/api/urls").status_code, login.status_code]

    assert told(operator.act(USERS, "disable", only(alice))) == ["1 accounts changed."]
    assert statuses() == [401, 401, 401]
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    operator.send(f"{USERS}{alice.user.pk}/change/", act="enable")
    assert statuses() == [200, 200, 200]
    who, whom = "operator@example.com", "alice@example.com"
    assert audit() == [(who, whom, "Disabled."), (who, whom, "Enabled.")]


def test_operators_do_not_lock_themselves_out(operator: Operator) -> None:
    operator.act(USERS, "disable", User.objects.all())
    assert User.objects.get(email="operator@example.com").is_active


def test_a_key_is_replaced_and_shown_to_nobody(
    operator: Operator, alice: NewAccount, api: APIClient, bearer: APIClient
) -> None:
    pages = [operator.act(USERS, "rotate_keys", only(alice))]
    new = bearer.get("/api/auth/api-key").json()["apiKey"]
    assert new != alice.api_key
    assert api.get("/api/urls").status_code == 401
    pages += [
        operator.see(page) for page in (USERS, f"{USERS}{alice.user.pk}/change/", "admin/logentry/", "")
    ]
    key = ApiKey.objects.get(user=alice.user)
    secrets = [alice.api_key, new, bytes(key.digest).hex(), bytes(key.sealed).hex(), new[-10:]]
    for page in pages:
        assert [secret for secret in secrets if secret in page.content.decode()] == []
    assert audit() == [("operator@example.com", "alice@example.com", "API key replaced.")]
    assert not any(secret in " ".join(audit()[0]) for secret in secrets)


def test_an_account_made_here_has_all_that_others_have(operator: Operator, anonymous: APIClient) -> None:
    passwords = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    answer = operator.send(f"{USERS}add/", email="New@Example.com", plan="pro", **passwords)
    user = User.objects.get(email="new@example.com")
    assert answer["Location"] == f"/admin/accounts/user/{user.pk}/change/"
    assert (user.plan, user.is_staff, ApiKey.objects.filter(user=user).count()) == ("pro", False, 1)
    login = anonymous.post("/api/auth/login", {"email": "new@example.com", "password": PASSWORD})
    assert login.status_code == 200
    assert audit() == [("operator@example.com", "new@example.com", "Added.")]


def test_who_is_no_superuser_makes_nobody_more_powerful(clerk: Operator, alice: NewAccount) -> None:
    user = User.objects.get(email="clerk@example.com")
    powers = {"is_staff": "on", "is_superuser": "on", "user_permissions": "1"}
    for each in (user, alice.user):
        clerk.send(f"{USERS}{each.pk}/change/", **form_of(each, plan="pro"), **powers)
        each.refresh_from_db()
        assert (each.plan, each.is_superuser, each.is_staff) == ("pro", False, each == user)
    assert user.user_permissions.count() == 2
    assert alice.user.user_permissions.count() == 0


def test_who_is_no_superuser_leaves_superusers_alone(clerk: Operator, operator: Operator) -> None:
    boss = User.objects.get(email="operator@example.com")
    before = User.objects.values().get(pk=boss.pk)
    digest = bytes(boss.api_key.digest)
    page = f"{USERS}{boss.pk}/change/"
    assert clerk.send(page, **form_of(boss, email="mine@example.com")).status_code == 403
    assert (
        clerk.send(
            f"{USERS}{boss.pk}/password/", password1="new pass word", password2="new pass word"
        ).status_code
        == 403
    )
    for action in ("disable", "rotate_keys"):
        assert told(clerk.act(USERS, action, [boss])) == ["0 accounts changed."]
        clerk.send(page, act=action)
    assert User.objects.values().get(pk=boss.pk) == before
    assert bytes(ApiKey.objects.get(user=boss).digest) == digest


@pytest.mark.parametrize("lookup", ["password__startswith", "api_key__digest", "email"])
def test_nothing_else_of_an_account_can_be_guessed_at(operator: Operator, lookup: str) -> None:
    assert operator.get("/admin/accounts/user/", {lookup: "a"}).status_code == 400


def test_accounts_are_not_deleted(operator: Operator, alice: NewAccount) -> None:
    assert operator.send(f"{USERS}{alice.user.pk}/delete/", post="yes").status_code == 403
    operator.act(USERS, "delete_selected", only(alice), post="yes")
    assert only(alice).exists()
