"""Operators change and disable accounts and replace keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import ApiKey, User
from accounts.services import NewAccount
from links.models import Link
from shortener_project.operator_groups import GROUPS, write_operator_groups
from testing.accounts.accounts import PASSWORD, account, bearer_client
from testing.accounts.admin import Operator, audit, messages_of

USERS = "accounts/user/"


def only(*accounts: NewAccount) -> Any:
    return User.objects.filter(pk__in=[account.user.pk for account in accounts])


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
    """May change accounts but is not a superuser."""
    user = account("clerk@example.com").user
    user.is_staff = True
    user.save()
    user.user_permissions.set(Permission.objects.filter(codename__in=["change_user", "view_user"]))
    client = Operator(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    client.force_login(user)
    return client


@pytest.mark.parametrize("accounts", [1, 3])
def test_a_list_needs_the_same_number_of_queries_at_any_length(operator: Operator, accounts: int) -> None:
    for number in range(accounts):
        account(f"{number}@example.com")
    assert len(operator.rows(USERS)) == accounts + 1
    assert operator.queries(USERS) == 4
    assert operator.queries(USERS, q="example") == 4
    assert operator.queries(USERS, plan="free", is_active__exact="1") == 4
    assert operator.queries(f"{USERS}{User.objects.latest('pk').pk}/change/") == 5


def test_changing_the_plan_changes_nothing_else(operator: Operator, alice: NewAccount) -> None:
    before = User.objects.filter(pk=alice.user.pk).values().get()
    response = operator.send(f"{USERS}{alice.user.pk}/change/", **form_of(alice.user, plan="enterprise"))
    assert response.status_code == 302
    assert User.objects.filter(pk=alice.user.pk).values().get() == {**before, "plan": "enterprise"}
    assert audit() == [("operator@example.com", "alice@example.com", "Changed Plan.")]


def test_an_email_is_stored_in_lower_case_and_is_unique(operator: Operator, alice: NewAccount) -> None:
    page = f"{USERS}{alice.user.pk}/change/"
    assert operator.send(page, **form_of(alice.user, email="Ada@Example.com")).status_code == 302
    assert User.objects.get(pk=alice.user.pk).email == "ada@example.com"
    response = operator.send(page, **form_of(alice.user, email="OPERATOR@example.com"))
    assert (response.status_code, len(response.context["errors"])) == (200, 1)


@pytest.mark.django_db(transaction=True)
def test_a_disabled_account_loses_access_at_once_and_its_links_still_redirect(
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

    assert messages_of(operator.act(USERS, "disable", only(alice))) == ["1 accounts changed."]
    assert statuses() == [401, 401, 401]
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    operator.send(f"{USERS}{alice.user.pk}/change/", act="enable")
    assert statuses() == [200, 200, 200]
    actor, subject = "operator@example.com", "alice@example.com"
    assert audit() == [(actor, subject, "Disabled."), (actor, subject, "Enabled.")]


def test_operators_cannot_lock_themselves_out(operator: Operator) -> None:
    operator.act(USERS, "disable", User.objects.all())
    assert User.objects.get(email="operator@example.com").is_active


def test_a_key_is_replaced_and_not_shown(
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


def test_an_account_created_in_the_admin_is_complete(operator: Operator, anonymous: APIClient) -> None:
    passwords = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    response = operator.send(f"{USERS}add/", email="New@Example.com", plan="pro", **passwords)
    user = User.objects.get(email="new@example.com")
    assert response["Location"] == f"/admin/accounts/user/{user.pk}/change/"
    assert (user.plan, user.is_staff, ApiKey.objects.filter(user=user).count()) == ("pro", False, 1)
    login = anonymous.post("/api/auth/login", {"email": "new@example.com", "password": PASSWORD})
    assert login.status_code == 200
    assert audit() == [("operator@example.com", "new@example.com", "Added.")]


def test_only_superusers_can_grant_permissions(clerk: Operator, alice: NewAccount) -> None:
    user = User.objects.get(email="clerk@example.com")
    write_operator_groups()
    powers = {"is_staff": "on", "is_superuser": "on", "groups": str(Group.objects.get(name="Abuse").pk)}
    for owner in (user, alice.user):
        clerk.send(f"{USERS}{owner.pk}/change/", **form_of(owner, plan="pro"), **powers)
        owner.refresh_from_db()
        assert (owner.plan, owner.is_superuser, owner.is_staff) == ("pro", False, owner == user)
    assert user.groups.count() == 0
    assert alice.user.groups.count() == 0


def test_only_superusers_can_change_superusers(clerk: Operator, operator: Operator) -> None:
    superuser = User.objects.get(email="operator@example.com")
    before = User.objects.values().get(pk=superuser.pk)
    digest = bytes(superuser.api_key.digest)
    page = f"{USERS}{superuser.pk}/change/"
    assert clerk.send(page, **form_of(superuser, email="mine@example.com")).status_code == 403
    assert (
        clerk.send(
            f"{USERS}{superuser.pk}/password/", password1="new pass word", password2="new pass word"
        ).status_code
        == 403
    )
    for action in ("disable", "rotate_keys"):
        assert messages_of(clerk.act(USERS, action, [superuser])) == ["0 accounts changed."]
        clerk.send(page, act=action)
    assert User.objects.values().get(pk=superuser.pk) == before
    assert bytes(ApiKey.objects.get(user=superuser).digest) == digest


@pytest.mark.parametrize("lookup", ["password__startswith", "api_key__digest", "email"])
def test_filters_on_other_fields_of_an_account_are_refused(operator: Operator, lookup: str) -> None:
    assert operator.get("/admin/accounts/user/", {lookup: "a"}).status_code == 400


def test_accounts_cannot_be_deleted(operator: Operator, alice: NewAccount) -> None:
    assert operator.send(f"{USERS}{alice.user.pk}/delete/", post="yes").status_code == 403
    operator.act(USERS, "delete_selected", only(alice), post="yes")
    assert only(alice).exists()


PAGES = (
    *(
        "accounts/user/",
        "accounts/workspace/",
        "links/link/",
        "links/linkban/",
        "bans/ban/",
        "domains/domain/",
    ),
    *("qrcodes/qrcode/", "analytics/click/", "admin/logentry/"),
)


@pytest.mark.parametrize("group", [None, *GROUPS])
def test_ready_made_groups_give_what_their_work_needs(
    group: str | None, operator: Operator, alice: NewAccount, make_link: Callable[..., dict[str, Any]]
) -> None:
    write_operator_groups()
    make_link()
    user = account("clerk@example.com").user
    page = f"{USERS}{user.pk}/change/"
    powers = {} if group is None else {"groups": str(Group.objects.get(name=group).pk)}
    assert operator.send(page, **form_of(user), is_staff="on", **powers).status_code == 302
    clerk = Operator(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    clerk.force_login(user)
    assert {clerk.get(f"/admin/{path}").status_code for path in PAGES} == {403 if group is None else 200}
    may = {
        "change an account": clerk.get(f"/admin/{USERS}{alice.user.pk}/change/").content.count(
            b'name="plan"'
        ),
        "ban a host": clerk.get("/admin/bans/ban/add/").status_code == 200,
        "see records": clerk.get("/admin/analytics/deadletter/").status_code == 200,
    }
    assert [name for name, is_allowed in may.items() if is_allowed] == {
        None: [],
        "Support": ["change an account"],
        "Abuse": ["ban a host"],
        "Read-only": ["see records"],
    }[group]
    # A second start finds them, and mends one that was changed by hand.
    Group.objects.get(name="Support").permissions.clear()
    write_operator_groups()
    assert Group.objects.get(name="Support").permissions.count() == len(GROUPS["Support"])


def test_history_of_a_link_has_the_changes_of_its_customer(
    operator: Operator, api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    link = make_link(title="Sale")
    api.put(f"/api/urls/{link['_id']}", {"title": "<b>Spring</b> sale"})
    pk = Link.objects.get().pk
    page = operator.get(f"/admin/links/link/{pk}/history/").content.decode()
    assert ("alice@example.com (api_key)" in page, "link.updated" in page) == (True, True)
    assert "title: <bdi>&lt;b&gt;Spring&lt;/b&gt; sale</bdi>" in page
    assert operator.get(f"/admin/links/link/{pk + 1}/history/").status_code == 302
