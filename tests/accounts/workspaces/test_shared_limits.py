"""A team on the plan of its owner's account gives that account no further limits."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db.models import F
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.caps import charged_workspaces, sharing_workspaces
from accounts.models import Member, Workspace
from accounts.rights import Plan, Role
from accounts.services import NewAccount, change_account
from accounts.workspaces import change_plan, delete_workspace
from domains.models import Domain
from links.models import CreatedLinks, Link
from testing.accounts.accounts import account
from testing.accounts.keys import scoped_client
from testing.accounts.workspaces import add_member, key_client_in, team, token_client_in
from testing.attempts import age_minutes, pass_time, slow_down_clock
from testing.threads import at_once

LINK = {"originalUrl": "https://example.com/page"}
READ = "/api/urls/domains/available"


@pytest.fixture
def owner(db: None) -> NewAccount:
    return account("free@example.com", plan=Plan.FREE)


def create(client: APIClient, count: int = 1) -> list[int]:
    return [client.post("/api/urls", LINK).status_code for _ in range(count)]


def in_team(owner: NewAccount, workspace: Workspace | None = None) -> APIClient:
    return key_client_in(workspace or team(owner), owner.api_key)


def personal(owner: NewAccount) -> APIClient:
    return APIClient(headers={"host": "sho.rt", "x-api-key": owner.api_key})


def test_which_workspaces_share_limits(owner: NewAccount, alice: NewAccount, stranger: NewAccount) -> None:
    first, second, foreign = team(owner), team(owner), team(alice)
    shared = {owner.workspace.pk, first.pk, second.pk}
    for workspace in (owner.workspace, first, second):
        assert set(sharing_workspaces(workspace)) == shared
    assert set(sharing_workspaces(foreign)) == {alice.workspace.pk, foreign.pk}
    assert sharing_workspaces(stranger.workspace) == [stranger.workspace.pk]
    assert charged_workspaces(first) == [first.pk, owner.workspace.pk]
    assert charged_workspaces(foreign) == [foreign.pk]

    # A second owner changes nothing, until the first one has gone.
    add_member(first, stranger, Role.OWNER)
    assert set(sharing_workspaces(first)) == shared
    Member.objects.filter(workspace=first, user=owner.user).delete()
    assert sharing_workspaces(first) == [first.pk]
    change_account(user=stranger.user, changes={"plan": Plan.FREE})
    assert set(sharing_workspaces(first)) == {stranger.workspace.pk, first.pk}

    # With a plan of its own, a team has limits of its own.
    change_plan(workspace=second, plan=Plan.PRO)
    assert sharing_workspaces(second) == [second.pk]
    assert charged_workspaces(second) == [second.pk]


def test_the_monthly_quota_counts_over_all_workspaces_on_the_free_plan(
    settings: Settings, owner: NewAccount, stranger: NewAccount
) -> None:
    settings.LINK_QUOTAS = {"free": 3, "pro": 2, "enterprise": 0}
    clients = [personal(owner), *(in_team(owner) for _ in range(4))]
    assert [create(client) for client in clients] == [[201]] * 3 + [[429]] * 2
    bulk = clients[4].post("/api/urls/bulk", {"urls": [LINK, LINK]}).json()["data"]
    assert [result["status"] for result in bulk["results"]] == [429, 429]
    refused = clients[4].post("/api/urls", LINK)
    assert (refused.json()["code"], refused["RateLimit-Limit"]) == ("quota_exceeded", "3")
    assert Link.objects.count() == 3
    # A stranger has a quota of their own, and a team on a paid plan, too.
    assert create(personal(stranger), 3) == [201, 201, 429]
    assert create(in_team(stranger), 3) == [201, 201, 429]


def test_a_member_who_creates_in_a_team_spends_the_quota_of_its_owner(
    settings: Settings, owner: NewAccount
) -> None:
    settings.LINK_QUOTAS = {"free": 3, "pro": 0, "enterprise": 0}
    shared, member = team(owner), account("member@example.com", plan=Plan.FREE)
    add_member(shared, member, Role.EDITOR)
    assert create(in_team(member, shared), 2) == [201, 201]
    assert create(personal(owner), 2) == [201, 429]
    assert create(personal(member), 4) == [201, 201, 201, 429]


@pytest.mark.parametrize("plan", [Plan.FREE, Plan.PRO])
def test_the_quota_that_was_used_outlives_a_deleted_workspace(
    settings: Settings, db: None, plan: Plan
) -> None:
    settings.LINK_QUOTAS = {"free": 3, "pro": 3, "enterprise": 0}
    creator = account("creator@example.com", plan=plan)
    workspace = team(creator)
    client = in_team(creator, workspace)
    assert create(client, 4) == [201, 201, 201, 429]
    ids = [link["_id"] for link in client.get("/api/urls").json()["data"]["urls"]]
    assert client.post("/api/urls/bulk-delete", {"ids": ids}).status_code == 200
    delete_workspace(workspace=workspace, actor=creator.user)
    assert create(personal(creator)) == [429]
    if plan == Plan.FREE:
        assert create(in_team(creator)) == [429]


def test_a_move_between_workspaces_of_one_free_account_is_not_charged_again(
    settings: Settings, owner: NewAccount
) -> None:
    settings.LINK_QUOTAS = {"free": 3, "pro": 0, "enterprise": 0}
    first, second = team(owner), team(owner)
    client = in_team(owner, first)
    assert create(client, 3) == [201] * 3
    # Those of another month do not count at all.
    CreatedLinks.objects.update(month=F("month") - timedelta(days=40))
    assert create(client, 3) == [201] * 3
    ids = [link["_id"] for link in client.get("/api/urls").json()["data"]["urls"]]
    # A team has a quota of its own, besides.
    for target, number in ((owner.workspace, 6), (second, 3)):
        moved = client.post("/api/urls/move", {"ids": ids, "workspaceId": str(target.public_id)})
        assert moved.json()["data"]["succeeded"] == number, moved.json()
        client = in_team(owner, target)
    assert create(personal(owner)) == [429]


@pytest.mark.django_db(transaction=True)
def test_parallel_creations_in_several_workspaces_do_not_exceed_the_quota(settings: Settings) -> None:
    settings.LINK_QUOTAS = {"free": 3, "pro": 0, "enterprise": 0}
    owner = account("free@example.com", plan=Plan.FREE)
    clients = [personal(owner), *(in_team(owner) for _ in range(3))]
    answers = at_once([partial(create, client) for client in clients * 2])
    assert sorted(answers) == [[201]] * 3 + [[429]] * 5
    assert Link.objects.count() == 3


def reads(client: APIClient, count: int = 1) -> list[int]:
    return [client.get(READ).status_code for _ in range(count)]


def test_requests_count_over_all_workspaces_on_the_free_plan(
    settings: Settings, owner: NewAccount, alice: NewAccount, stranger: NewAccount
) -> None:
    slow_down_clock()
    settings.RATE_LIMITS = {"free": 4, "pro": 2, "enterprise": 0}
    first, second = team(owner), team(owner)
    by_key, by_token = in_team(owner, first), token_client_in(second, owner.user)
    response = by_key.get(READ)
    assert (response.status_code, response["RateLimit-Remaining"]) == (200, "3")
    assert by_token.get(READ)["RateLimit-Remaining"] == "2"
    assert personal(owner).get(READ)["RateLimit-Remaining"] == "1"
    assert reads(by_key) == [200]
    for client in (by_key, by_token, personal(owner)):
        refused = client.get(READ)
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    # Others are not affected, and teams on other plans have limits of their own.
    assert reads(personal(stranger), 3) == [200, 200, 429]
    assert reads(in_team(stranger), 3) == [200, 200, 429]
    age_minutes(seconds=60)
    assert reads(by_token) == [200]


def test_requests_with_a_key_of_a_free_team_count_for_its_owner(
    settings: Settings, owner: NewAccount
) -> None:
    slow_down_clock()
    workspace = team(owner)
    scoped = scoped_client(workspace, owner.user)
    settings.RATE_LIMITS = {"free": 4, "pro": 0, "enterprise": 0}
    assert reads(scoped, 3) == [200] * 3
    assert reads(personal(owner), 2) == [200, 429]
    assert reads(scoped) == [429]


def test_qr_codes_count_over_all_workspaces_of_an_account(
    settings: Settings, owner: NewAccount, stranger: NewAccount
) -> None:
    settings.QR_CODES_PER_ACCOUNT = 3

    def qr_codes(client: APIClient, count: int) -> list[int]:
        link = client.post("/api/urls", LINK).json()["data"]["url"]["_id"]
        sizes = range(300, 300 + count)
        return [client.post("/api/qr-codes", {"urlId": link, "size": size}).status_code for size in sizes]

    assert qr_codes(personal(owner), 2) == [201, 201]
    assert qr_codes(in_team(owner), 2) == [201, 403]
    assert qr_codes(in_team(owner), 1) == [403]
    assert qr_codes(personal(stranger), 4) == [201] * 3 + [403]


def test_domains_count_over_all_workspaces_of_an_account(
    settings: Settings, alice: NewAccount, stranger: NewAccount
) -> None:
    settings.DOMAINS_PER_ACCOUNT = 2

    def claim(client: APIClient, name: str) -> int:
        return client.post("/api/domains", {"domain": name}).status_code

    assert claim(personal(alice), "one.example") == 201
    assert claim(in_team(alice), "two.example") == 201
    assert [claim(in_team(alice), "three.example"), claim(personal(alice), "three.example")] == [403, 403]
    assert claim(personal(stranger), "three.example") == 201
    own = team(alice)
    change_plan(workspace=own, plan=Plan.ENTERPRISE)
    assert claim(in_team(alice, own), "four.example") == 201
    assert Domain.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_parallel_claims_in_several_workspaces_do_not_exceed_the_cap(settings: Settings) -> None:
    settings.DOMAINS_PER_ACCOUNT = 2
    owner = account("pro@example.com", plan=Plan.PRO)
    clients = [personal(owner), *(in_team(owner) for _ in range(3))]

    def claim(client: Any, number: int) -> int:
        return client.post("/api/domains", {"domain": f"d{number}.example"}).status_code

    answers = at_once([partial(claim, client, number) for number, client in enumerate(clients)])
    assert sorted(answers) == [201, 201, 403, 403]


def test_an_account_creates_a_limited_number_of_workspaces_in_a_day(
    settings: Settings, owner: NewAccount, stranger: NewAccount
) -> None:
    settings.WORKSPACES_PER_DAY = 3

    def create_and_delete(account: NewAccount) -> int:
        client = token_client_in(account.workspace, account.user)
        created = client.post("/api/workspaces", {"name": "x"})
        if created.status_code == 201:
            path = f"/api/workspaces/{created.json()['data']['workspace']['_id']}"
            assert client.delete(path).status_code == 200
        else:
            assert created.json()["code"] == "rate_limited"
            assert created["RateLimit-Policy"] == '"attempts";q=3;w=86400'
        return created.status_code

    assert [create_and_delete(owner) for _ in range(5)] == [201] * 3 + [429] * 2
    assert create_and_delete(stranger) == 201
    pass_time(minutes=24 * 60)
    assert create_and_delete(owner) == 201
