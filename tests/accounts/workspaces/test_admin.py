"""Operators find workspaces and change the plans of teams."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Workspace
from accounts.rights import Role
from accounts.services import NewAccount
from testing.accounts.admin import Operator, audit
from testing.accounts.workspaces import add_member, key_client_in, team

WORKSPACES = "accounts/workspace/"


@pytest.fixture
def marketing(alice: NewAccount, stranger: NewAccount) -> Workspace:
    workspace = team(alice, "Marketing")
    add_member(workspace, stranger, Role.VIEWER)
    return workspace


def page_of(workspace: Workspace) -> str:
    return f"{WORKSPACES}{workspace.pk}/change/"


@pytest.mark.parametrize("teams", [1, 3])
def test_a_list_needs_the_same_number_of_queries_at_any_length(
    operator: Operator, alice: NewAccount, teams: int
) -> None:
    workspaces = [team(alice) for _ in range(teams)]
    assert len(operator.rows(WORKSPACES, kind="team")) == teams
    for query in ({}, {"kind": "personal"}, {"q": "alice@example.com"}, {"q": "team"}):
        assert operator.queries(WORKSPACES, **query) == 4
    assert operator.queries(page_of(workspaces[0])) == 4


def test_workspaces_are_found(operator: Operator, alice: NewAccount, marketing: Workspace) -> None:
    for search, expected in {
        "Marketing": ["Marketing"],
        "market": ["Marketing"],
        "alice@example.com": ["Marketing", "alice@example.com"],
        " Mallory@Example.com ": ["Marketing", "mallory@example.com"],
        str(marketing.public_id): ["Marketing"],
        str(alice.user.public_id): ["alice@example.com"],
        "nobody@example.com": [],
        "Personal": [],
        "%": [],
        "'": [],
    }.items():
        assert [str(row) for row in operator.rows(WORKSPACES, q=search)] == expected, search
    shown = {str(row): row.number_of_members for row in operator.rows(WORKSPACES)}
    assert shown["Marketing"] == 2
    assert shown["alice@example.com"] == 1
    assert [str(row) for row in operator.rows(WORKSPACES, kind="team")] == ["Marketing"]


def test_changing_the_plan_of_a_team_changes_nothing_else(
    operator: Operator, alice: NewAccount, marketing: Workspace
) -> None:
    before = Workspace.objects.filter(pk=marketing.pk).values().get()
    assert "mallory@example.com: viewer" in operator.see(page_of(marketing)).content.decode()
    # Owners rename workspaces.
    response = operator.send(page_of(marketing), team_plan="enterprise", name="Stolen")
    assert response.status_code == 302
    assert Workspace.objects.filter(pk=marketing.pk).values().get() == {**before, "team_plan": "enterprise"}
    stats = key_client_in(marketing, alice.api_key).get("/api/urls/stats").json()
    assert (stats["plan"], before["team_plan"]) == ("enterprise", "pro")
    assert audit() == [("operator@example.com", "Marketing", "Changed Plan.")]


@pytest.mark.parametrize("plan", ["", "gold"])
def test_a_team_keeps_a_plan(operator: Operator, marketing: Workspace, plan: str) -> None:
    response = operator.send(page_of(marketing), team_plan=plan)
    assert (response.status_code, len(response.context["errors"])) == (200, 1)
    marketing.refresh_from_db()
    assert marketing.plan == "pro"


def test_a_personal_workspace_has_the_plan_of_its_account(operator: Operator, alice: NewAccount) -> None:
    page = page_of(alice.workspace)
    assert "team_plan" not in operator.see(page).content.decode()
    operator.send(page, team_plan="enterprise")
    own = Workspace.objects.get(pk=alice.user.pk)
    assert (own.team_plan, own.plan) == (None, "pro")


@pytest.mark.parametrize("way", ["add/", "delete"])
def test_workspaces_are_neither_added_nor_deleted_here(
    operator: Operator, marketing: Workspace, way: Any
) -> None:
    page = f"{WORKSPACES}add/" if way == "add/" else f"{WORKSPACES}{marketing.pk}/delete/"
    assert operator.get(f"/admin/{page}").status_code == 403


def test_a_ban_finds_its_workspace(operator: Operator, marketing: Workspace) -> None:
    """The form of bans opens the list of workspaces to choose one."""
    page = operator.see("bans/ban/add/").content.decode()
    assert f"/admin/{WORKSPACES}?_to_field=id" in page
    [row] = operator.rows(WORKSPACES, q="Marketing", _popup="1")
    assert row.pk == marketing.pk
