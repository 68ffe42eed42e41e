"""Tags as objects: their list, names, colours and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.rights import Role
from accounts.services import NewAccount
from accounts.workspaces import delete_workspace
from links.models import ClickCounter, Link, Tag, TagChange
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.links.many import create_many
from testing.refusals import broken_rules

MakeLink = Callable[..., dict[str, Any]]
URL = "https://example.com/"


def listed(api: APIClient, **query: object) -> list[tuple[str, int, int | None]]:
    """The names, links and clicks. Asserts that the total equals their number."""
    response = api.get("/api/tags", {"clicks": "true", **query})
    assert response.status_code == 200, response.content
    data = response.json()["data"]
    assert data["pagination"]["total"] == len(data["tags"])
    return [(tag["name"], tag["linkCount"], tag.get("clickCount")) for tag in data["tags"]]


def set_clicks(clicks: dict[str, int]) -> None:
    """By the ids of links."""
    for public_id, number in clicks.items():
        ClickCounter.objects.filter(link__public_id=public_id).update(clicks=number)


def test_tags_are_listed_with_their_links_and_clicks(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    first = make_link(tags=["Sale", "mail", "SALE"])
    second = make_link(tags=["sale", "\u00c4pfel"])
    make_link()
    strange_api.post("/api/urls", {"originalUrl": URL, "tags": ["sale", "hers"]})
    set_clicks({first["_id"]: 5, second["_id"]: 2})
    assert listed(api) == [("mail", 1, 5), ("sale", 2, 7), ("\u00c4pfel", 1, 2)]
    assert listed(api, sortBy="linkCount", sortOrder="desc", clicks="false") == [
        ("sale", 2, None),
        ("mail", 1, None),
        ("\u00c4pfel", 1, None),
    ]
    assert listed(api, search="AL") == [("sale", 2, 7)]
    assert listed(api, search="\u00c4") == [("\u00c4pfel", 1, 2)]
    assert listed(strange_api, clicks="false") == [("hers", 1, None), ("sale", 1, None)]
    api.delete(f"/api/urls/{second['_id']}")
    assert listed(api) == [("mail", 1, 5), ("Sale", 1, 5)]


def test_the_queries_of_a_page_do_not_depend_on_its_tags(
    api: APIClient, django_assert_num_queries: Any
) -> None:
    create_many(api, [{"originalUrl": URL, "tags": [f"t{n:02}", "all"]} for n in range(30)])
    numbers: list[int] = []
    for limit in (5, 31):
        with django_assert_num_queries(2):
            data = api.get("/api/tags", {"limit": limit}).json()["data"]
        assert [len(data["tags"]), data["tags"][0].keys()] == [limit, {"name", "color", "linkCount"}]
        with CaptureQueriesContext(connection) as queries:
            api.get("/api/tags", {"limit": limit, "clicks": "true"})
        numbers.append(len(queries))
    assert numbers[0] == numbers[1]
    page = api.get("/api/tags", {"limit": 10, "page": 4}).json()["data"]
    assert page["pagination"] == {"page": 4, "limit": 10, "total": 31, "pages": 4}
    assert [tag["name"] for tag in page["tags"]] == ["t29"]
    beyond = api.get("/api/tags", {"limit": 10, "page": 5}).json()["data"]
    assert (beyond["tags"], beyond["pagination"]["total"]) == ([], 31)


def test_a_tag_is_read_by_its_name_in_any_case(api: APIClient, make_link: MakeLink) -> None:
    make_link(tags=["R/D", "50%", "  padded "])
    expected = {"name": "R/D", "color": None, "linkCount": 1}
    for spelling in ("R%252FD", "r%252fd"):
        assert api.get(f"/api/tags/{spelling}").json()["data"]["tag"] == expected
    assert api.get("/api/tags/50%25").json()["data"]["tag"]["name"] == "50%"
    assert api.get("/api/tags/padded").json()["data"]["tag"]["linkCount"] == 1
    for name in ("other", "%00", "%20", "x" * 3_000):
        response = api.get(f"/api/tags/{name}")
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_a_colour_is_set_and_removed_and_outlives_the_links(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(tags=["Sale"])
    response = api.patch("/api/tags/sale", {"color": "#1a2b3c"})
    assert response.json()["data"] == {
        "tag": {"name": "Sale", "color": "#1A2B3C", "linkCount": 1},
        "change": None,
    }
    api.delete(f"/api/urls/{link['_id']}")
    assert listed(api) == [("Sale", 0, 0)]
    make_link(tags=["SALE"])
    assert api.get("/api/tags/sale").json()["data"]["tag"]["color"] == "#1A2B3C"
    assert api.patch("/api/tags/sale", {"color": None}).json()["data"]["tag"]["color"] is None


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ({"color": "red"}, ("color", "color")),
        ({"color": 7}, ("color", "invalid")),
        ({"name": " "}, ("name", "blank_tag")),
        ({"name": ""}, ("name", "blank")),
        ({"name": "x" * 51}, ("name", "max_length")),
        ({"name": None}, ("name", "null")),
        ({"name": "new", "merge": "yes"}, ("merge", "invalid")),
        ({"colour": "#112233"}, ("colour", "unknown_field")),
    ],
    ids=str,
)
def test_bad_changes_are_refused(
    api: APIClient, make_link: MakeLink, body: dict[str, Any], broken: tuple[str, str]
) -> None:
    make_link(tags=["sale"])
    response = api.patch("/api/tags/sale", body)
    assert (response.status_code, broken_rules(response)) == (400, [broken])
    assert listed(api) == [("sale", 1, 0)]
    assert Tag.objects.count() == TagChange.objects.count() == 0


def test_members_share_tags_and_strangers_find_none(
    alice: NewAccount, stranger: NewAccount, strange_api: APIClient
) -> None:
    workspace = team(alice)
    owner = key_client_in(workspace, alice.api_key)
    owner.post("/api/urls", {"originalUrl": URL, "tags": ["sale"]})
    for response in (
        strange_api.get("/api/tags/sale"),
        strange_api.patch("/api/tags/sale", {"name": "mine"}),
        strange_api.delete("/api/tags/sale"),
    ):
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
    add_member(workspace, stranger, Role.VIEWER)
    viewer = key_client_in(workspace, stranger.api_key)
    assert listed(viewer) == [("sale", 1, 0)]
    for response in (viewer.patch("/api/tags/sale", {"name": "mine"}), viewer.delete("/api/tags/sale")):
        assert (response.status_code, response.json()["code"]) == (403, "role_required")
    change = owner.patch("/api/tags/sale", {"name": "new"}).json()["data"]["change"]["_id"]
    assert viewer.get(f"/api/tag-changes/{change}").json()["data"]["change"]["newName"] == "new"
    assert viewer.post(f"/api/tag-changes/{change}/undo").status_code == 403
    elsewhere = key_client_in(stranger.workspace, stranger.api_key)
    assert elsewhere.get(f"/api/tag-changes/{change}").status_code == 404
    assert elsewhere.post(f"/api/tag-changes/{change}/undo").status_code == 404
    assert listed(owner) == [("new", 1, 0)]


def test_tags_are_deleted_with_their_workspace(alice: NewAccount) -> None:
    workspace = team(alice)
    owner = key_client_in(workspace, alice.api_key)
    owner.post("/api/urls", {"originalUrl": URL, "tags": ["sale"]})
    owner.patch("/api/tags/sale", {"name": "new", "color": "#112233"})
    Link.objects.all().delete()
    delete_workspace(workspace=workspace, actor=alice.user)
    assert Tag.objects.count() == TagChange.objects.count() == 0
