"""Renaming, merging and deleting a tag in all links, with history and undo."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import StorageLimit
from accounts.services import NewAccount
from links.models import UNDO_DAYS, Link, Tag, TagChange, TagTotals
from links.tags import changes
from testing.links.many import create_many
from testing.threads import at_once

MakeLink = Callable[..., dict[str, Any]]
URL = "https://example.com/"


def tags_of_links() -> list[list[str]]:
    """In the order of the links. Asserts that keys and counts fit."""
    links = list(Link.objects.order_by("pk"))
    for link in links:
        assert link.tag_keys == sorted({tag.strip().casefold() for tag in link.tags})
    counted: dict[str, int] = {}
    for link in links:
        for key in link.tag_keys:
            counted[key] = counted.get(key, 0) + 1
    kept: dict[str, int] = {}
    for row in TagTotals.objects.all():
        kept[row.tag_key] = kept.get(row.tag_key, 0) + row.links
    assert kept == counted
    return [link.tags for link in links]


def change(api: APIClient, tag: str, **fields: Any) -> dict[str, Any]:
    response = api.patch(f"/api/tags/{tag}", fields)
    assert response.status_code == 200, response.content
    data: dict[str, Any] = response.json()["data"]
    return data


def undo(api: APIClient, done: dict[str, Any]) -> dict[str, Any]:
    response = api.post(f"/api/tag-changes/{done['_id']}/undo")
    assert response.status_code == 200, response.content
    undone: dict[str, Any] = response.json()["data"]["change"]
    return undone


@pytest.fixture
def three(api: APIClient) -> list[str]:
    """The ids of three links."""
    verdicts = create_many(
        api,
        [
            {"originalUrl": URL, "tags": ["a", "Sale", "z"]},
            {"originalUrl": URL, "tags": ["SALE", "sale", "New"]},
            {"originalUrl": URL, "tags": ["other"]},
        ],
    )
    return [verdict["url"]["_id"] for verdict in verdicts]


def test_a_tag_is_renamed_in_place_in_all_links_and_nowhere_else(
    api: APIClient, strange_api: APIClient, three: list[str]
) -> None:
    strange_api.post("/api/urls", {"originalUrl": URL, "tags": ["sale"]})
    data = change(api, "sale", name="Offer", color="#112233")
    assert data["tag"] == {"name": "Offer", "color": "#112233", "linkCount": 2}
    assert {name: data["change"][name] for name in ("action", "name", "newName", "status", "linkCount")} == {
        "action": "renamed",
        "name": "SALE",
        "newName": "Offer",
        "status": "done",
        "linkCount": 2,
    }
    assert tags_of_links() == [["a", "Offer", "z"], ["Offer", "New"], ["other"], ["sale"]]
    assert api.get("/api/tags/sale").status_code == 404
    assert [url["_id"] for url in api.get("/api/urls?tags=offer").json()["data"]["urls"]] == three[1::-1]


def test_only_the_spelling_of_a_tag_changes(api: APIClient, three: list[str]) -> None:
    done = change(api, "sale", name="sAlE")["change"]
    assert tags_of_links() == [["a", "sAlE", "z"], ["sAlE", "New"], ["other"]]
    assert undo(api, done)["restoredCount"] == 2
    assert tags_of_links() == [["a", "Sale", "z"], ["SALE", "sale", "New"], ["other"]]


def test_the_same_name_changes_nothing(api: APIClient, make_link: MakeLink) -> None:
    make_link(tags=["Sale"])
    assert change(api, "sale", name="Sale")["change"] is None
    assert TagChange.objects.count() == 0


def test_merging_needs_to_be_asked_for(api: APIClient, three: list[str]) -> None:
    refused = api.patch("/api/tags/sale", {"name": "NEW"})
    assert (refused.status_code, refused.json()["code"]) == (409, "tag_exists")
    assert (
        refused.json()["message"] == "The workspace has the tag New already. Merge the two with merge: true."
    )
    assert tags_of_links() == [["a", "Sale", "z"], ["SALE", "sale", "New"], ["other"]]
    data = change(api, "sale", name="NEW", merge=True)
    assert (data["tag"]["name"], data["tag"]["linkCount"], data["change"]["action"]) == ("New", 2, "merged")
    assert tags_of_links() == [["a", "New", "z"], ["New"], ["other"]]
    assert undo(api, data["change"])["status"] == "undone"
    assert tags_of_links() == [["a", "Sale", "z"], ["SALE", "sale", "New"], ["other"]]


def test_a_deleted_tag_leaves_its_links_and_comes_back(api: APIClient, three: list[str]) -> None:
    change(api, "sale", color="#112233")
    response = api.delete("/api/tags/SALE")
    assert response.status_code == 200
    assert tags_of_links() == [["a", "z"], ["New"], ["other"]]
    assert Tag.objects.count() == 0
    assert api.delete("/api/tags/sale").status_code == 404
    undone = undo(api, response.json()["data"]["change"])
    assert (undone["status"], undone["linkCount"], undone["restoredCount"]) == ("undone", 2, 2)
    assert tags_of_links() == [["a", "Sale", "z"], ["SALE", "sale", "New"], ["other"]]
    assert api.get("/api/tags/sale").json()["data"]["tag"]["color"] == "#112233"


def test_undoing_leaves_links_alone_whose_tags_have_changed_since(api: APIClient, three: list[str]) -> None:
    done = change(api, "sale", name="Offer")["change"]
    api.put(f"/api/urls/{three[0]}", {"tags": ["Offer", "mine"]})
    api.put(f"/api/urls/{three[1]}", {"title": "Changed"})
    undone = undo(api, done)
    assert (undone["linkCount"], undone["restoredCount"]) == (2, 1)
    assert tags_of_links() == [["Offer", "mine"], ["SALE", "sale", "New"], ["other"]]
    again = api.post(f"/api/tag-changes/{done['_id']}/undo")
    assert (again.status_code, again.json()["code"]) == (409, "not_undoable")


def test_the_history_of_links_and_of_the_workspace_has_the_change(
    api: APIClient, alice: NewAccount, three: list[str]
) -> None:
    done = change(api, "sale", name="Offer")["change"]
    undo(api, done)
    [back, there] = api.get(f"/api/urls/{three[0]}/history").json()["data"]["changes"]
    assert (there["before"], there["after"]) == ({"tags": ["a", "Sale", "z"]}, {"tags": ["a", "Offer", "z"]})
    assert (back["before"], back["after"]) == (there["after"], there["before"])
    assert there["actor"]["_id"] == str(alice.user.public_id)
    assert there["requestId"] == done["_id"]
    recorded = [
        (entry["action"], entry["objectId"], entry["before"], entry["after"])
        for entry in api.get("/api/audit").json()["data"]["changes"]
        if entry["action"].startswith("tag.")
    ]
    assert recorded == [
        ("tag.restored", done["_id"], {"name": "Offer"}, {"name": "SALE"}),
        ("tag.renamed", done["_id"], {"name": "SALE"}, {"name": "Offer"}),
    ]
    restored = api.post(f"/api/urls/{three[0]}/history/{there['_id']}/restore")
    assert restored.json()["data"]["url"]["tags"] == ["a", "Sale", "z"]


def test_a_change_makes_a_new_version_of_each_link(api: APIClient, three: list[str]) -> None:
    versions = [api.get(f"/api/urls/{link}")["ETag"] for link in three]
    change(api, "sale", name="Offer")
    assert [
        api.get(f"/api/urls/{link}")["ETag"] == version for link, version in zip(three, versions, strict=True)
    ] == [
        False,
        False,
        True,
    ]


def test_saved_views_follow_a_renamed_tag(api: APIClient, three: list[str]) -> None:
    filters = {"tags": "sale,other,new", "excludeTags": "SALE", "search": "sale"}
    view = api.post("/api/views", {"name": "View", "filters": filters}).json()["data"]["view"]["_id"]

    def shown() -> dict[str, str]:
        found: dict[str, str] = api.get(f"/api/views/{view}").json()["data"]["view"]["filters"]
        return found

    done = change(api, "sale", name="Offer")["change"]
    assert shown() == {"tags": "Offer,other,new", "excludeTags": "Offer", "search": "sale"}
    undo(api, done)
    assert shown() == {"tags": "SALE,other,new", "excludeTags": "SALE", "search": "sale"}
    change(api, "sale", name="new", merge=True)
    assert shown() == {"tags": "New,other,new", "excludeTags": "New", "search": "sale"}


def test_a_change_can_be_undone_for_some_days(api: APIClient, three: list[str]) -> None:
    done = change(api, "sale", name="Offer")["change"]
    assert api.get("/api/tag-changes").json()["data"]["changes"] == [done]
    TagChange.objects.update(created_at=timezone.now() - timedelta(days=UNDO_DAYS, seconds=1))
    assert api.get("/api/tag-changes").json()["data"]["changes"] == []
    assert api.post(f"/api/tag-changes/{done['_id']}/undo").status_code == 404
    changes.finish_tag_changes()
    assert TagChange.objects.count() == 0


def test_housekeeping_finishes_what_a_request_has_left(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_many(api, [{"originalUrl": URL, "tags": ["sale"]} for _ in range(25)])
    monkeypatch.setattr(changes, "BATCH", 10)
    monkeypatch.setattr(changes, "REQUEST_SECONDS", -1.0)
    begun = change(api, "sale", name="Offer")["change"]
    assert (begun["status"], begun["linkCount"]) == ("running", 10)
    for response in (api.patch("/api/tags/sale", {"name": "x"}), api.delete("/api/tags/offer")):
        assert (response.status_code, response.json()["code"]) == (409, "tags_busy")
    assert api.post(f"/api/tag-changes/{begun['_id']}/undo").status_code == 409
    # Links that get the tag meanwhile are renamed, too.
    api.post("/api/urls", {"originalUrl": URL, "tags": ["SALE"]})
    changes.finish_tag_changes()
    done = api.get(f"/api/tag-changes/{begun['_id']}").json()["data"]["change"]
    assert (done["status"], done["linkCount"]) == ("done", 26)
    assert tags_of_links() == [["Offer"]] * 26
    undoing = undo(api, done)
    assert (undoing["status"], undoing["restoredCount"]) == ("undoing", 10)
    changes.finish_tag_changes()
    assert tags_of_links() == [["sale"]] * 25 + [["SALE"]]


def test_the_queries_of_a_batch_do_not_depend_on_its_links(api: APIClient) -> None:
    create_many(api, [{"originalUrl": URL, "tags": ["one"]}])
    create_many(api, [{"originalUrl": URL, "tags": ["many"]} for _ in range(30)])
    numbers = []
    for name in ("one", "many"):
        with CaptureQueriesContext(connection) as queries:
            change(api, name, name=f"{name} 2")
        numbers.append(len(queries))
    assert numbers[0] == numbers[1]


def test_a_longer_name_is_stored_in_a_full_workspace_and_counted(api: APIClient, alice: NewAccount) -> None:
    create_many(api, [{"originalUrl": URL, "tags": ["s"]} for _ in range(100)])
    StorageLimit.objects.update_or_create(plan=alice.user.plan, defaults={"bytes": 1})
    assert change(api, "s", name="x" * 50)["change"]["linkCount"] == 100
    assert tags_of_links() == [["x" * 50]] * 100


def test_a_moved_link_is_not_restored(api: APIClient, stranger: NewAccount, three: list[str]) -> None:
    done = change(api, "sale", name="Offer")["change"]
    Link.objects.filter(public_id=three[0]).update(owner=stranger.workspace, updated_at=F("updated_at"))
    assert undo(api, done)["restoredCount"] == 1
    assert tags_of_links()[0] == ["a", "Offer", "z"]


@pytest.mark.django_db(transaction=True)
def test_of_two_renames_at_once_one_succeeds(alice: NewAccount, api: APIClient) -> None:
    create_many(api, [{"originalUrl": URL, "tags": ["sale"]} for _ in range(20)])

    def rename(name: str) -> str:
        try:
            changes.change_tag(alice.workspace, "sale", new_name=name)
        except (changes.TagsBusy, changes.NotFound):
            return ""
        return name

    for _ in range(5):
        names = at_once([lambda: rename("one"), lambda: rename("two")])
        [winner] = filter(None, names)
        assert tags_of_links() == [[winner]] * 20
        change(api, winner, name="sale")


@pytest.mark.django_db(transaction=True)
def test_links_created_and_edited_during_a_rename_have_one_of_the_names(
    alice: NewAccount, api: APIClient
) -> None:
    verdicts = create_many(api, [{"originalUrl": URL, "tags": ["sale"]} for _ in range(300)])
    ids = [verdict["url"]["_id"] for verdict in verdicts]

    def create() -> set[int]:
        return {api.post("/api/urls", {"originalUrl": URL, "tags": ["sale"]}).status_code for _ in range(20)}

    def edit() -> set[int]:
        chance = random.Random(1)
        return {
            api.put(f"/api/urls/{chance.choice(ids)}", {"tags": ["sale", "edited"]}).status_code
            for _ in range(20)
        }

    def rename() -> set[int]:
        return {api.patch("/api/tags/sale", {"name": "Offer"}).status_code}

    assert at_once([create, edit, rename]) == [{201}, {200}, {200}]
    found = tags_of_links()
    assert len(found) == 320
    assert {tuple(tags) for tags in found} <= {("sale",), ("Offer",), ("sale", "edited"), ("Offer", "edited")}
    # Only what was written after the last pass has the former name.
    if any("sale" in tags for tags in found):
        change(api, "sale", name="Offer", merge=True)
    assert all("Offer" in tags for tags in tags_of_links())
