"""Deletion of many links in one call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.services import NewAccount
from links.bulk.services import delete_links
from links.models import Code, Link
from testing.links.many import UNKNOWN_ID, URL
from testing.refusals import broken_rules
from testing.threads import at_once
from tests.links.creation import everything_written
from tests.links.many_changes import delete

MakeLink = Callable[..., dict[str, Any]]


def test_links_of_others_and_unknown_ids_are_not_found(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    other_link = strange_api.post("/api/urls", {"originalUrl": URL}).json()["data"]["url"]
    first, second, kept = make_link(customCode="one"), make_link(), make_link()
    ids = [first["_id"], other_link["_id"], UNKNOWN_ID, "x", second["_id"].upper(), first["_id"]]
    verdicts = delete(api, *ids)
    not_found = {"success": False, "status": 404, "code": "not_found", "message": "URL not found."}
    assert verdicts == [
        {"index": 0, "success": True, "status": 200, "url": {"_id": first["_id"]}},
        *({"index": place, **not_found} for place in (1, 2, 3)),
        {"index": 4, "success": True, "status": 200, "url": {"_id": second["_id"]}},
        {"index": 5, **not_found},
    ]
    assert [
        str(public_id) for public_id in Link.objects.order_by("id").values_list("public_id", flat=True)
    ] == [
        other_link["_id"],
        kept["_id"],
    ]
    assert api.get("/api/urls/stats").json()["totalLinks"] == 1


def test_codes_of_deleted_links_are_held_for_their_owner(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link(customCode="spring")
    api.put(f"/api/urls/{link['_id']}", {"customCode": "summer"})
    delete(api, link["_id"])
    for code in ("spring", "summer", link["shortCode"]):
        assert visitor.get(f"/{code}").status_code == 404
    assert dict(Code.objects.values_list("code", "kind")) == dict.fromkeys(
        ("spring", "summer", link["shortCode"]), "retired"
    )
    body = {"urls": [{"originalUrl": URL, "customCode": "spring"}]}
    for client, created in [(strange_api, 0), (api, 1)]:
        assert client.post("/api/urls/bulk", body).json()["data"]["succeeded"] == created


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ({}, [("ids", "required")]),
        ({"ids": []}, [("ids", "min_length")]),
        ({"ids": UNKNOWN_ID}, [("ids", "not_a_list")]),
        ({"ids": [None]}, [("ids.0", "null")]),
        ({"ids": [UNKNOWN_ID] * 1001}, [("ids", "max_length")]),
    ],
)
def test_an_invalid_list_of_ids_deletes_nothing(
    api: APIClient, make_link: MakeLink, body: dict[str, Any], rules: list[tuple[str, str]]
) -> None:
    make_link()
    before = everything_written()
    response = api.post("/api/urls/bulk-delete", body)
    assert response.status_code == 400
    assert broken_rules(response) == rules
    assert everything_written() == before


@pytest.mark.django_db(transaction=True)
def test_concurrent_calls_delete_each_link_once(alice: NewAccount, make_link: MakeLink) -> None:
    ids = [make_link()["_id"] for _ in range(30)]

    def remove(order: int) -> list[Any]:
        return delete_links(owner=Workspace.objects.get(pk=alice.user.pk), public_ids=ids[::order])

    verdicts = at_once([partial(remove, order) for order in (1, -1, 1, -1)])
    deleted = [
        str(outcome) for outcomes in verdicts for outcome in outcomes if not isinstance(outcome, Exception)
    ]
    assert sorted(deleted) == sorted(ids)
    assert Link.objects.count() == 0
