"""Which workspace a request acts in, and what each role may do there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import Member, User, Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from links.models import Link
from links.views import LinkViewSet
from shortener_project.configuration.checks import check_access
from testing.accounts.accounts import bearer_client, key_client
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.workspaces import add_member, key_client_in, token_client_in
from testing.error_bodies import without_request_id

UNKNOWN = "01890000-0000-7000-8000-000000000000"
Clients = Callable[[Workspace, NewAccount], APIClient]


@pytest.fixture(params=["key", "token"])
def client_in(request: pytest.FixtureRequest) -> Clients:
    if request.param == "key":
        return lambda workspace, member: key_client_in(workspace, member.api_key)
    return lambda workspace, member: token_client_in(workspace, member.user)


def titles(client: APIClient) -> list[str]:
    return [link["title"] for link in client.get("/api/urls").json()["data"]["urls"]]


def create(client: APIClient, title: str) -> Any:
    return client.post("/api/urls", {"originalUrl": "https://example.com/", "title": title})


def test_the_header_chooses_the_workspace(
    alice: NewAccount, api: APIClient, marketing: Workspace, client_in: Clients
) -> None:
    there = client_in(marketing, alice)
    assert [create(there, "of the team").status_code, create(api, "private").status_code] == [201, 201]
    assert (titles(there), titles(api)) == (["of the team"], ["private"])
    assert dict(Link.objects.values_list("title", "owner_id")) == {
        "of the team": marketing.pk,
        "private": alice.user.pk,
    }


def test_the_header_may_name_the_personal_workspace(
    alice: NewAccount, api: APIClient, client_in: Clients
) -> None:
    create(api, "private")
    assert titles(client_in(alice.workspace, alice)) == ["private"]


@pytest.mark.parametrize("named", [UNKNOWN, "", "x", "é", "0", UNKNOWN + "0"])
def test_an_unknown_workspace_is_404(named: str, alice: NewAccount) -> None:
    for client in (key_client(alice.api_key), bearer_client(alice.user)):
        response = client.get("/api/urls", headers={"x-workspace": named})
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
        assert response.json()["message"] == "Workspace not found."


def test_the_workspace_of_others_is_answered_like_an_unknown_one(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace, client_in: Clients
) -> None:
    foreign = [marketing, alice.workspace, Workspace(public_id=UNKNOWN)]
    bodies = {without_request_id(client_in(workspace, stranger).get("/api/urls")) for workspace in foreign}
    assert len(bodies) == 1


def test_a_former_member_is_refused_at_once(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace, client_in: Clients
) -> None:
    add_member(marketing, stranger, Role.OWNER)
    client = client_in(marketing, stranger)
    assert client.get("/api/urls").status_code == 200
    Member.objects.filter(user=stranger.user, workspace=marketing).delete()
    assert client.get("/api/urls").status_code == 404


@pytest.mark.parametrize(
    ("role", "method", "path", "status"),
    [
        (Role.VIEWER, "get", "/api/urls", 200),
        (Role.VIEWER, "post", "/api/urls", 403),
        (Role.EDITOR, "post", "/api/urls", 201),
        (Role.EDITOR, "post", "/api/domains", 403),
        (Role.ADMIN, "post", "/api/domains", 201),
        (Role.OWNER, "post", "/api/domains", 201),
    ],
)
def test_roles_decide(
    *,
    role: Role,
    method: str,
    path: str,
    status: int,
    marketing: Workspace,
    stranger: NewAccount,
    client_in: Clients,
) -> None:
    add_member(marketing, stranger, role)
    body = {"originalUrl": "https://example.com/"} if path == "/api/urls" else {"domain": "go.brand.example"}
    response = getattr(client_in(marketing, stranger), method)(path, body)
    assert response.status_code == status
    if status == 403:
        required = "editor" if path == "/api/urls" else "admin"
        assert response.json() == {
            "success": False,
            "message": f"This requires the role {required} in the workspace.",
            "code": "role_required",
            "data": {"role": required},
        }


def test_naming_no_workspace_costs_no_query(alice: NewAccount, marketing: Workspace) -> None:
    for client, there in (
        (key_client(alice.api_key), key_client_in(marketing, alice.api_key)),
        (bearer_client(alice.user), token_client_in(marketing, alice.user)),
    ):
        counts = []
        for caller in (client, there):
            with CaptureQueriesContext(connection) as queries:
                assert caller.get("/api/urls").status_code == 200
            counts.append(len(queries))
        # Naming one costs none either: the statement that authenticates reads the membership.
        assert counts[0] == counts[1]


def test_members_share_the_request_limit_of_the_workspace(
    settings: Settings, alice: NewAccount, stranger: NewAccount, marketing: Workspace, client_in: Clients
) -> None:
    settings.RATE_LIMITS = {"free": 5, "pro": 3, "enterprise": 5}
    add_member(marketing, stranger, Role.VIEWER)
    members = [client_in(marketing, alice), client_in(marketing, stranger)]
    statuses = [client.get("/api/urls").status_code for client in [*members, *members]]
    assert statuses == [200, 200, 200, 429]
    # Each has requests of their own left.
    assert key_client(alice.api_key).get("/api/urls").headers["RateLimit-Remaining"] == "2"
    assert key_client(stranger.api_key).get("/api/urls").headers["RateLimit-Remaining"] == "2"


def test_requests_in_the_workspace_of_others_count_on_the_account(
    settings: Settings, stranger: NewAccount, marketing: Workspace, client_in: Clients
) -> None:
    settings.RATE_LIMITS = {"free": 3, "pro": 3, "enterprise": 3}
    client = client_in(marketing, stranger)
    assert [client.get("/api/urls").status_code for _ in range(4)] == [404, 404, 404, 429]


def test_the_workspace_of_a_team_has_a_quota_of_its_own(
    settings: Settings, alice: NewAccount, api: APIClient, marketing: Workspace, client_in: Clients
) -> None:
    settings.LINK_QUOTAS = {"free": 1, "pro": 1, "enterprise": 1}
    there = client_in(marketing, alice)
    assert [create(client, "x").status_code for client in (api, there, api, there)] == [201, 201, 429, 429]


def test_an_idempotency_key_works_once_in_each_workspace(
    alice: NewAccount, api: APIClient, marketing: Workspace, client_in: Clients
) -> None:
    body, headers = {"originalUrl": "https://example.com/"}, {"idempotency-key": "once"}
    first = api.post("/api/urls", body, headers=headers)
    again = api.post("/api/urls", body, headers=headers)
    assert (first.status_code, again.content) == (201, first.content)
    elsewhere = client_in(marketing, alice).post("/api/urls", body, headers=headers)
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (422, "idempotency_mismatch")


def test_the_creator_of_a_link_is_the_member(
    alice: NewAccount, stranger: NewAccount, marketing: Workspace, client_in: Clients
) -> None:
    add_member(marketing, stranger, Role.EDITOR)
    client = client_in(marketing, stranger)
    link = create(client, "hers").json()["data"]["url"]
    many = client.post("/api/urls/bulk", {"urls": [{"originalUrl": "https://example.com/"}]}).json()
    reader = client_in(marketing, alice)
    for identifier in (link["_id"], many["data"]["results"][0]["url"]["_id"]):
        creator = reader.get(f"/api/urls/{identifier}").json()["data"]["url"]["creator"]
        assert creator["email"] == "mallory@example.com"


def test_figures_are_those_of_the_workspace(
    alice: NewAccount, api: APIClient, marketing: Workspace, client_in: Clients
) -> None:
    User.objects.filter(pk=alice.user.pk).update(plan="enterprise")
    create(api, "private")
    figures = client_in(marketing, alice).get("/api/urls/stats").json()
    assert (figures["totalLinks"], figures["plan"], figures["accountAge"]) == (0, "pro", "today")


def test_every_action_declares_its_access(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_access() == []
    monkeypatch.setattr(LinkViewSet, "access", {**LinkViewSet.access})
    del LinkViewSet.access["stats"]
    assert [error.msg for error in check_access()] == ["LinkViewSet.stats is not in the view's access."]


def test_an_action_without_access_is_refused(monkeypatch: pytest.MonkeyPatch, api: APIClient) -> None:
    monkeypatch.setattr(LinkViewSet, "access", {})
    response = api.get("/api/urls")
    assert (response.status_code, response.json()["code"]) == (403, "permission_denied")
