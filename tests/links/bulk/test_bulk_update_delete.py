from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.services import NewAccount
from domains.models import Domain
from links.bulk.services import update_links
from links.models import Code, Link
from testing.links.calls import whole
from testing.links.many import UNKNOWN_ID, URL
from testing.threads import at_once
from tests.links.many_changes import MakeLink, delete, update, update_all


def codes(link: dict[str, Any]) -> dict[str, str]:
    return dict(Code.objects.filter(link__public_id=link["_id"]).values_list("code", "kind"))


# Updating


def test_each_item_has_its_own_changes(api: APIClient, make_link: MakeLink) -> None:
    first, second = make_link(title="one", description="kept"), make_link(tags=["x"])
    fields = {
        "title": "Eins",
        "tags": ["A", "b, c"],
        "isActive": False,
        "customCode": "eins",
        "expiresAt": "2030-01-01T00:00:00Z",
        "utm": {"source": "mail"},
        "restrictions": {"maxClicks": 7, "blockedCountries": ["FR"]},
        "redirectType": 301,
    }
    verdicts = update(api, {"_id": first["_id"], **fields}, {"_id": second["_id"], "tags": None})
    read = whole(api, first)
    assert {name: read[name] for name in fields} == fields
    assert read["description"] == "kept"
    assert verdicts[0] == {
        "index": 0,
        "success": True,
        "status": 200,
        "url": {
            "_id": first["_id"],
            "shortUrl": "http://sho.rt/eins",
            **fields,
            "status": "disabled",
            "updatedAt": read["updatedAt"],
        },
    }
    assert whole(api, second)["tags"] == []
    assert api.get("/api/urls/stats").json()["data"]["stats"]["activeUrls"] == 1


def test_one_change_applies_to_all_ids(api: APIClient, make_link: MakeLink) -> None:
    links = [make_link(title=str(n)) for n in range(3)]
    verdicts = update_all(api, [link["_id"] for link in links], {"tags": ["all"], "password": "open"})
    assert [verdict["url"]["hasPassword"] for verdict in verdicts] == [True] * 3
    for n, link in enumerate(links):
        read = whole(api, link)
        assert (read["title"], read["tags"], read["hasPassword"]) == (str(n), ["all"], True)
    assert len(set(Link.objects.values_list("password", flat=True))) == 3


@pytest.mark.django_db(transaction=True)
def test_errors_equal_those_of_a_single_call(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    make_link(customCode="taken")
    other_link = strange_api.post("/api/urls", {"originalUrl": URL}).json()["data"]["url"]
    own_link = make_link()
    bodies = [
        (own_link["_id"], {"originalUrl": "https://example.org/"}),
        (own_link["_id"], {"shortCode": "changed"}),
        (own_link["_id"], {"customCode": "admin"}),
        (own_link["_id"], {"customCode": "taken"}),
        (own_link["_id"], {"title": 5, "redirectType": 303}),
        (other_link["_id"], {"title": "x"}),
        (UNKNOWN_ID, {"title": "x"}),
        ("x", {"title": "x"}),
    ]
    for public_id, body in bodies:
        good = make_link()
        alone = api.put(f"/api/urls/{public_id}", body)
        verdicts = update(api, {"_id": public_id, **body}, {"_id": good["_id"], "title": "good"})
        assert verdicts[0] == {"index": 0, "status": alone.status_code, **alone.json()}
        assert whole(api, good)["title"] == "good"
    assert whole(strange_api, other_link)["title"] is None
    # Clients may send complete objects back.
    assert update(api, {**whole(api, own_link), "title": "x"})[0]["success"] is True


def test_an_item_without_an_id_is_refused(api: APIClient) -> None:
    [verdict] = update(api, {"title": "x"})
    assert (verdict["status"], verdict["errors"][0]["field"]) == (400, "_id")


def test_a_repeated_id_is_refused(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    verdicts = update(api, {"_id": link["_id"], "title": "a"}, {"_id": link["_id"].upper(), "title": "b"})
    assert [verdict["status"] for verdict in verdicts] == [200, 400]
    assert verdicts[1]["errors"][0]["code"] == "duplicate"
    assert whole(api, link)["title"] == "a"


def test_renamed_codes_remain_as_aliases(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    links = [make_link(f"{URL}/{n}", customCode=f"old{n}") for n in range(3)]
    verdicts = update(
        api,
        {"_id": links[0]["_id"], "customCode": "new0"},
        # Used by another item of the same call.
        {"_id": links[1]["_id"], "customCode": "new0", "title": "not written"},
        {"_id": links[2]["_id"], "customCode": None},
    )
    assert [verdict["status"] for verdict in verdicts] == [200, 409, 200]
    assert whole(api, links[1])["title"] is None
    for n, code in [(0, "new0"), (0, "old0"), (1, "old1"), (2, "old2")]:
        assert visitor.get(f"/{code}")["Location"] == f"{URL}/{n}"
    assert codes(links[0]) == {links[0]["shortCode"]: "short", "old0": "alias", "new0": "custom"}
    assert codes(links[2]) == {links[2]["shortCode"]: "short", "old2": "alias"}
    # And back.
    verdicts = update(
        api,
        {"_id": links[0]["_id"], "customCode": "old0"},
        {"_id": links[2]["_id"], "customCode": links[2]["shortCode"]},
        {"_id": links[1]["_id"], "customCode": "old1"},
    )
    assert [verdict["status"] for verdict in verdicts] == [200, 200, 200]
    assert codes(links[0]) == {links[0]["shortCode"]: "short", "new0": "alias", "old0": "custom"}
    assert codes(links[2]) == {links[2]["shortCode"]: "short", "old2": "alias"}
    assert whole(api, links[2])["customCode"] == links[2]["shortCode"]


def test_a_rename_checks_the_domain_of_the_link(
    api: APIClient, alice: NewAccount, make_link: MakeLink, visitor: Client
) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace, domain="brand.example", host="brand.example", status="active"
    )
    make_link(customCode="spring")
    link = make_link(f"{URL}/brand", domainId=str(domain.public_id), customCode="autumn")
    assert update(api, {"_id": link["_id"], "customCode": "spring"})[0]["success"] is True
    for code in ("spring", "autumn"):
        response = visitor.get(f"/{code}", headers={"host": "brand.example"})
        assert response["Location"] == f"{URL}/brand"


def test_many_take_as_many_statements_as_one(api: APIClient, make_link: MakeLink) -> None:
    links = [make_link() for _ in range(12)]

    def statements(chosen: list[dict[str, Any]], call: Callable[..., Any]) -> int:
        with CaptureQueriesContext(connection) as queries:
            verdicts = call(chosen)
        assert all(verdict["success"] for verdict in verdicts)
        return len(queries)

    def rename(chosen: list[dict[str, Any]]) -> Any:
        return update(api, *({"_id": link["_id"], "customCode": f"c{link['shortCode']}"} for link in chosen))

    def remove(chosen: list[dict[str, Any]]) -> Any:
        return delete(api, *(link["_id"] for link in chosen))

    assert statements(links[:1], rename) == statements(links[1:4], rename) == statements(links[4:], rename)
    assert statements(links[:1], remove) == statements(links[1:4], remove) == statements(links[4:], remove)


@pytest.mark.django_db(transaction=True)
def test_concurrent_updates_in_opposite_order_all_succeed(alice: NewAccount, make_link: MakeLink) -> None:
    links = [make_link(customCode=f"cross{n}") for n in range(30)]

    def change(order: int, turn: int) -> list[Any]:
        items = [
            {"public_id": link["_id"], "custom_code": f"turn{turn}x{n}", "title": str(turn)}
            for n, link in enumerate(links)
        ]
        return update_links(owner=Workspace.objects.get(pk=alice.user.pk), items=items[::order])

    verdicts = at_once([partial(change, order, turn) for turn in range(3) for order in (1, -1)])
    assert all(isinstance(outcome, Link) for outcomes in verdicts for outcome in outcomes)
    assert len({link.title for link in Link.objects.all()}) == 1
    assert Code.objects.filter(kind="custom").count() == 30
    assert Code.objects.filter(kind="alias").count() == 90


# Caches of the workers


@pytest.mark.django_db(transaction=True)
def test_changes_are_in_force_on_return(api: APIClient, visitor: Client) -> None:
    for code in ("kept", "renamed"):
        assert visitor.get(f"/{code}").status_code == 404
    created = api.post(
        "/api/urls/bulk",
        {"urls": [{"originalUrl": f"{URL}/{code}", "customCode": code} for code in ("kept", "gone")]},
    )
    ids = [result["url"]["_id"] for result in created.json()["data"]["results"]]
    for code in ("kept", "gone"):
        assert visitor.get(f"/{code}")["Location"] == f"{URL}/{code}"
    update(
        api, {"_id": ids[0], "customCode": "renamed", "redirectType": 301}, {"_id": ids[1], "isActive": False}
    )
    for code in ("kept", "renamed"):
        assert visitor.get(f"/{code}").status_code == 301
    assert visitor.get("/gone").status_code == 410
    delete(api, *ids)
    for code in ("kept", "renamed", "gone"):
        assert visitor.get(f"/{code}").status_code == 404
