"""The history of a link has the fields of the API, with the values of the API, whoever changes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.models import Change
from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from testing.links.calls import whole
from testing.links.routing_fields import EVERYTHING
from tests.links.history.recorded import CHANGED, FORMER

MakeLink = Callable[..., dict[str, Any]]


def changes_of(api: APIClient, link: dict[str, Any]) -> list[dict[str, Any]]:
    response = api.get(f"/api/urls/{link['_id']}/history")
    assert response.status_code == 200, response.json()
    return response.json()["data"]["changes"]


def values(change: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    return change["action"], change["before"], change["after"]


def test_creating_a_link_writes_no_row(make_link: MakeLink, api: APIClient) -> None:
    Change.objects.all().delete()
    link = make_link(**FORMER)
    response = api.post("/api/urls/bulk", {"urls": [{"originalUrl": "https://example.com/"}]})
    assert response.json()["data"]["succeeded"] == 1
    assert Change.objects.count() == 0
    assert changes_of(api, link) == []


def test_creating_a_link_calls_no_function_of_the_history(alice: NewAccount) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT p.proname FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid"
            # The bit of INSERT, and the tables to which a creation adds rows.
            " WHERE NOT t.tgisinternal AND t.tgtype & 4 <> 0 AND t.tgrelid = ANY (%s::regclass[])",
            [["links_link", "links_code", "links_clickcounter", "links_searchable", "links_ownertotals"]],
        )
        functions = {name for (name,) in cursor.fetchall()}
    assert functions == {
        *("links_after_insert", "links_check_storage", "links_emit_missed"),
    }


@pytest.mark.parametrize("name", FORMER)
def test_a_change_has_the_values_of_the_api(name: str, make_link: MakeLink, api: APIClient) -> None:
    link = make_link(**FORMER)
    before = whole(api, link)[name]
    assert api.put(f"/api/urls/{link['_id']}", {name: CHANGED[name]}).status_code == 200
    after = whole(api, link)[name]
    assert before != after
    assert list(map(values, changes_of(api, link))) == [("link.updated", {name: before}, {name: after})]


def test_the_test_covers_every_field_that_can_change(make_link: MakeLink, api: APIClient) -> None:
    with connection.cursor() as cursor:
        make_link()
        cursor.execute("SELECT name FROM accounts_historyname WHERE table_name = 'links_link'")
        names = {name for (name,) in cursor.fetchall()}
    fixed = {"_id", "originalUrl", "shortCode", "creator", "createdAt"}
    # Tested apart, or no settings of the link.
    others = {"hasPassword", "domainId", "shortUrl", "clickCount", "status", "health", "updatedAt"}
    recorded = names - {"originalUrl", "shortCode", "domainId", "password"}
    assert recorded == FORMER.keys() == CHANGED.keys()
    assert recorded == whole(api, {"_id": str(Link.objects.get().public_id)}).keys() - fixed - others


@pytest.mark.parametrize(
    ("former", "sent", "shown"),
    [
        (None, "secret", (None, "set")),
        ("secret", "other secret", ("set", "set")),
        ("secret", None, ("set", "removed")),
    ],
)
def test_passwords_appear_as_set_or_removed(
    former: str | None,
    sent: str | None,
    shown: tuple[str | None, str],
    make_link: MakeLink,
    api: APIClient,
) -> None:
    before, after = shown
    link = make_link(password=former)
    assert api.put(f"/api/urls/{link['_id']}", {"password": sent, "title": "new"}).status_code == 200
    assert list(map(values, changes_of(api, link))) == [
        ("link.updated", {"password": before, "title": None}, {"password": after, "title": "new"})
    ]


def test_an_update_without_any_difference_writes_no_row(make_link: MakeLink, api: APIClient) -> None:
    link = make_link(**FORMER)
    assert api.put(f"/api/urls/{link['_id']}", whole(api, link)).status_code == 200
    assert changes_of(api, link) == []


def test_a_refused_update_writes_no_row(make_link: MakeLink, api: APIClient) -> None:
    make_link(customCode="taken")
    link = make_link()
    body = {"customCode": "taken", "title": "new"}
    assert api.put(f"/api/urls/{link['_id']}", body).status_code == 409
    assert changes_of(api, link) == []


def test_each_link_of_a_bulk_update_has_a_row(make_link: MakeLink, api: APIClient) -> None:
    links = [make_link(title=title) for title in ("a", "b")]
    routed = make_link(title="c", rules=EVERYTHING["rules"])
    body = {"ids": [link["_id"] for link in (*links, routed)], "data": {"tags": ["sale"]}}
    assert api.post("/api/urls/bulk-update", body).json()["data"]["succeeded"] == 3
    for link in (*links, routed):
        [change] = changes_of(api, link)
        assert values(change) == ("link.updated", {"tags": []}, {"tags": ["sale"]})
        assert (change["via"], change["objectId"]) == ("api_key", link["_id"])


@pytest.mark.parametrize("path", ["single", "bulk"])
def test_a_deletion_has_every_field(
    path: str, alice: NewAccount, make_link: MakeLink, api: APIClient, brand: Domain
) -> None:
    link = make_link(**FORMER, password="secret", domainId=str(brand.public_id))
    shown = whole(api, link)
    if path == "single":
        assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    else:
        assert api.post("/api/urls/bulk-delete", {"ids": [link["_id"]]}).status_code == 200
    [change] = changes_of(api, link)
    names = {*FORMER, "originalUrl", "shortCode", "domainId"}
    assert values(change) == (
        "link.deleted",
        {**{name: shown[name] for name in names}, "password": "set"},
        {},
    )
    assert change["actor"]["_id"] == str(alice.user.public_id)


def test_the_deletion_of_a_domain_records_the_moves_of_its_links(
    make_link: MakeLink, api: APIClient, brand: Domain, alice: NewAccount
) -> None:
    make_link(customCode="spring")
    link = make_link(customCode="spring", domainId=str(brand.public_id))
    assert api.delete(f"/api/domains/{brand.public_id}").status_code == 200
    [change] = changes_of(api, link)
    assert values(change) == (
        "link.updated",
        {"domainId": str(brand.public_id), "customCode": "spring"},
        {"domainId": "base", "customCode": None},
    )
    assert change["actor"]["_id"] == str(alice.user.public_id)


def test_a_change_outside_the_service_is_recorded_without_an_actor(
    make_link: MakeLink, api: APIClient
) -> None:
    link = make_link()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET title = 'by hand'")
    [change] = changes_of(api, link)
    assert values(change) == ("link.updated", {"title": None}, {"title": "by hand"})
    assert (change["actor"], change["via"], change["requestId"]) == (None, "service", "")
