"""Saved views: named filters of the list of links, shared by the members of a workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from accounts.workspaces import delete_workspace
from links import saved_views
from links.models import SavedView
from links.representations import view_filters
from links.serializers import ListQuery, ViewFiltersSerializer
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.refusals import broken_rules
from testing.threads import at_once
from tests.links.listing.listed import listed_titles

MakeLink = Callable[..., dict[str, Any]]
SPRING = {"tags": "spring", "status": "active", "sortBy": "clickCount", "sortOrder": "asc"}


def create(api: APIClient, name: str = "Spring", **filters: str) -> Any:
    return api.post("/api/views", {"name": name, "filters": filters or SPRING})


def created(api: APIClient, name: str = "Spring", **filters: str) -> dict[str, Any]:
    response = create(api, name, **filters)
    assert response.status_code == 201, response.json()
    view: dict[str, Any] = response.json()["data"]["view"]
    return view


def views(api: APIClient) -> list[dict[str, Any]]:
    response = api.get("/api/views")
    assert response.status_code == 200
    found: list[dict[str, Any]] = response.json()["data"]["views"]
    return found


def test_a_view_keeps_the_parameters_of_the_list(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="One", tags=["spring"])
    make_link(title="Two")
    view = created(api)
    assert (view["name"], view["filters"]) == ("Spring", SPRING)
    assert views(api) == [view]
    assert listed_titles(api, **view["filters"]) == ["One"]


def test_values_are_kept_as_texts(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="Off", isActive=False)
    filters = {"isActive": False, "expiresWithin": 7, "sortBy": "title"}
    view = api.post("/api/views", {"name": "Off", "filters": filters}).json()["data"]["view"]
    assert view["filters"] == {"isActive": "false", "expiresWithin": "7", "sortBy": "title"}
    assert listed_titles(api, isActive=view["filters"]["isActive"]) == ["Off"]
    # What was read can be sent back.
    assert api.patch(f"/api/views/{view['_id']}", view).json()["data"]["view"]["filters"] == view["filters"]


def test_a_campaign_keeps_the_parameters_of_a_report(api: APIClient, make_link: MakeLink) -> None:
    make_link(tags=["spring"])
    report = {"period": "90d", "tags": "spring,sale", "country": "DE,-FR"}
    view = api.post("/api/views", {"name": "Spring", "filters": {}, "report": report}).json()["data"]["view"]
    assert (view["filters"], view["report"]) == ({}, report)
    assert created(api, "List")["report"] is None
    # A renamed tag has its new name there, too.
    assert api.patch("/api/tags/spring", {"name": "summer"}).status_code == 200
    address = f"/api/views/{view['_id']}"
    assert api.get(address).json()["data"]["view"]["report"] == report | {"tags": "summer,sale"}
    changed = api.patch(address, {"report": {"period": "7d"}}).json()["data"]["view"]
    assert changed["report"] == {"period": "7d"}
    assert api.patch(address, {"report": None}).json()["data"]["view"]["report"] is None


def test_a_view_has_every_parameter_of_the_list() -> None:
    assert ViewFiltersSerializer().fields.keys() == view_filters.names
    assert ListQuery().fields.keys() - {"page", "limit", "cursor"} == view_filters.names


def test_views_are_listed_by_name(api: APIClient, django_assert_num_queries: Any) -> None:
    for name in ("Spring", "Autumn", "Summer"):
        created(api, name)
    with django_assert_num_queries(2):
        assert [view["name"] for view in views(api)] == ["Autumn", "Spring", "Summer"]


def test_a_view_is_renamed_changed_and_deleted(api: APIClient) -> None:
    view = created(api)
    address = f"/api/views/{view['_id']}"
    renamed = api.patch(address, {"name": "Spring 2"}).json()["data"]["view"]
    assert (renamed["name"], renamed["filters"]) == ("Spring 2", SPRING)
    assert renamed["updatedAt"] > view["updatedAt"]
    changed = api.patch(address, {"filters": {"search": "sale"}}).json()["data"]["view"]
    assert (changed["name"], changed["filters"]) == ("Spring 2", {"search": "sale"})
    assert views(api) == [changed]
    assert api.get(address).json()["data"]["view"] == changed
    assert api.delete(address).status_code == 200
    assert (views(api), api.delete(address).status_code) == ([], 404)


def test_a_name_is_taken_once(api: APIClient, strange_api: APIClient) -> None:
    created(api)
    other = created(api, "Other")
    created(strange_api)
    for response in (create(api), api.patch(f"/api/views/{other['_id']}", {"name": "Spring"})):
        assert (response.status_code, response.json()["code"]) == (409, "view_exists")
    assert [view["name"] for view in views(api)] == ["Other", "Spring"]


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ({}, [("name", "required")]),
        ({"name": "x"}, [("filters", "one_of")]),
        ({"name": "x", "filters": None, "report": None}, [("filters", "one_of")]),
        ({"name": "", "filters": {}}, [("name", "blank")]),
        ({"name": "x" * 61, "filters": {}}, [("name", "max_length")]),
        ({"name": "x", "filters": []}, [("filters", "invalid")]),
        ({"name": "x", "filters": {"colour": "red"}}, [("filters.colour", "unknown_field")]),
        ({"name": "x", "filters": {"page": "2"}}, [("filters.page", "unknown_field")]),
        ({"name": "x", "filters": {"status": "gone"}}, [("filters.status", "status")]),
        ({"name": "x", "filters": {"createdFrom": "soon"}}, [("filters.createdFrom", "invalid")]),
        ({"name": "x", "filters": {"tags": ["a"]}}, [("filters.tags", "invalid")]),
        ({"name": "x", "filters": {"search": "x" * 1_000}}, [("filters.search", "max_length")]),
        ({"name": "x", "filters": {}, "report": {"groupBy": "tag"}}, [("report.groupBy", "unknown_field")]),
        ({"name": "x", "filters": {}, "report": {"country": 1}}, [("report.country", "invalid")]),
    ],
    ids=str,
)
def test_bad_views_are_refused(api: APIClient, body: dict[str, Any], broken: list[tuple[str, str]]) -> None:
    response = api.post("/api/views", body)
    assert response.status_code == 400
    assert sorted(broken_rules(response)) == broken
    assert views(api) == []


def test_a_workspace_has_a_limited_number_of_views(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_views, "MAX_VIEWS", 2)
    for name in ("One", "Two"):
        created(api, name)
    response = create(api, "Three")
    assert (response.status_code, response.json()["code"]) == (403, "quota_exceeded")
    assert len(views(api)) == 2


@pytest.mark.django_db(transaction=True)
def test_the_limit_holds_for_simultaneous_calls(alice: NewAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_views, "MAX_VIEWS", 3)

    def attempt(number: int) -> bool:
        try:
            saved_views.create_view(owner=alice.workspace, name=f"View {number}", filters={})
        except saved_views.TooManyViews:
            return False
        return True

    outcomes = at_once([lambda number=number: attempt(number) for number in range(6)])  # type: ignore[misc] # mypy wants no defaults
    assert (outcomes.count(True), SavedView.objects.count()) == (3, 3)


def test_members_share_views_and_strangers_see_none(
    alice: NewAccount, stranger: NewAccount, strange_api: APIClient
) -> None:
    workspace = team(alice)
    owner = key_client_in(workspace, alice.api_key)
    view = created(owner)
    address = f"/api/views/{view['_id']}"
    assert views(strange_api) == []
    for response in (
        strange_api.get(address),
        strange_api.patch(address, {"name": "Mine"}),
        strange_api.delete(address),
    ):
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
    add_member(workspace, stranger, Role.VIEWER)
    viewer = key_client_in(workspace, stranger.api_key)
    assert views(viewer) == [view]
    for response in (create(viewer, "Mine"), viewer.patch(address, {"name": "Mine"}), viewer.delete(address)):
        assert (response.status_code, response.json()["code"]) == (403, "role_required")
    assert views(owner) == [view]


def test_views_are_deleted_with_their_workspace(alice: NewAccount) -> None:
    workspace = team(alice)
    created(key_client_in(workspace, alice.api_key))
    delete_workspace(workspace=workspace, actor=alice.user)
    assert SavedView.objects.count() == 0
