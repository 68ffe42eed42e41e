"""Each field on creation, update, bulk calls, exports and imports."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from links.models import Link, Route
from testing.links.calls import whole
from testing.links.many import URL, create_many, imported, results
from testing.links.routing_fields import DEFAULTS, EVERYTHING, RULES, SPLIT, routing
from tests.links.creation import everything_written
from tests.links.exports import export
from tests.links.routing.changed_fields import MakeLink, put

pytestmark = pytest.mark.django_db(transaction=True)


def test_link_without_the_fields_has_their_defaults(api: APIClient, make_link: MakeLink) -> None:
    assert routing(whole(api, make_link())) == DEFAULTS


def test_create_accepts_every_field(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(**EVERYTHING)
    assert routing(whole(api, link)) == EVERYTHING
    stored = Link.objects.get()
    assert (stored.original_url, stored.destination) == (URL, "https://example.com/moved")
    assert stored.other_destinations == [
        "https://example.com/soon",
        "https://example.com/over",
        "https://example.com/fallback",
        *(rule["url"] for rule in RULES),
        *(variant["url"] for variant in SPLIT),
        "https://example.com/card.png",
    ]
    assert [(entry["number"], len(entry["_id"])) for entry in stored.rules + stored.split] == [
        (number, 32) for number in range(1, 5)
    ]


@pytest.mark.parametrize("name", DEFAULTS)
def test_create_accepts_null_for_every_field(name: str, api: APIClient, make_link: MakeLink) -> None:
    assert routing(whole(api, make_link(**{name: None}))) == DEFAULTS


@pytest.mark.parametrize("name", DEFAULTS)
def test_update_sets_and_clears_one_field(name: str, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    changed = put(api, link, **{name: EVERYTHING[name]})
    assert routing(changed) == {name: EVERYTHING[name]}
    assert routing(whole(api, link)) == DEFAULTS | {name: EVERYTHING[name]}
    assert routing(put(api, link, **{name: None})) == {name: DEFAULTS[name]}
    assert routing(whole(api, link)) == DEFAULTS
    stored = Link.objects.get()
    assert (stored.destination, stored.other_destinations) == (URL, [])


@pytest.mark.parametrize("name", ["rules", "split"])
def test_update_accepts_an_empty_list(name: str, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(**EVERYTHING)
    put(api, link, **{name: []})
    assert routing(whole(api, link)) == EVERYTHING | {name: []}


def test_update_keeps_fields_that_are_not_sent(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(**EVERYTHING)
    put(api, link, title="New")
    assert routing(whole(api, link)) == EVERYTHING


def test_a_whole_link_can_be_sent_back(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(**EVERYTHING)
    before = whole(api, link)
    put(api, link, **before)
    assert whole(api, link) == before | {"updatedAt": whole(api, link)["updatedAt"]}
    assert not Route.objects.filter(until__isnull=False).exists()


def test_bulk_calls_accept_every_field(api: APIClient) -> None:
    created = create_many(api, [{"originalUrl": URL, **EVERYTHING}, {"originalUrl": URL}])
    links = [verdict["url"] for verdict in created]
    assert [routing(whole(api, link)) for link in links] == [EVERYTHING, DEFAULTS]
    urls = [{"_id": links[0]["_id"], **DEFAULTS}, {"_id": links[1]["_id"], **EVERYTHING}]
    updated = results(api.post("/api/urls/bulk-update", {"urls": urls}), "updated")
    assert [routing(verdict["url"]) for verdict in updated] == [DEFAULTS, EVERYTHING]
    assert [routing(whole(api, link)) for link in links] == [DEFAULTS, EVERYTHING]
    body = {"ids": [link["_id"] for link in links], "data": EVERYTHING}
    results(api.post("/api/urls/bulk-update", body), "updated")
    assert [routing(whole(api, link)) for link in links] == [EVERYTHING, EVERYTHING]
    ids = [entry["_id"] for link in Link.objects.all() for entry in link.rules + link.split]
    assert len(set(ids)) == 8


def test_bulk_update_rejects_only_the_invalid_item(api: APIClient) -> None:
    links = [verdict["url"] for verdict in create_many(api, [{"originalUrl": URL}] * 2)]
    urls = [{"_id": links[0]["_id"], "targetUrl": "http://sho.rt/x"}, {"_id": links[1]["_id"], **EVERYTHING}]
    first, second = api.post("/api/urls/bulk-update", {"urls": urls}).json()["data"]["results"]
    assert (first["status"], first["errors"][0]["field"], first["errors"][0]["code"]) == (
        400,
        "targetUrl",
        "loop",
    )
    assert second["status"] == 200
    assert [routing(whole(api, link)) for link in links] == [DEFAULTS, EVERYTHING]


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_imported_export_keeps_every_field(file_format: str, api: APIClient, make_link: MakeLink) -> None:
    every = make_link(**EVERYTHING, customCode="every")
    plain = make_link(customCode="plain")
    content = export(api, format=file_format)
    for link in (every, plain):
        api.delete(f"/api/urls/{link['_id']}")
    assert [row["status"] for row in imported(api, content, dry_run=True)] == [201, 201]
    rows = imported(api, content)
    assert [row["status"] for row in rows] == [201, 201]
    by_code = {row["url"]["customCode"]: whole(api, row["url"]) for row in rows}
    assert {code: routing(url) for code, url in by_code.items()} == {"every": EVERYTHING, "plain": DEFAULTS}


def test_import_rejects_only_the_invalid_row(api: APIClient) -> None:
    content = "originalUrl,rules,split\nhttps://example.com/,nonsense,\nhttps://example.com/,,\n"
    first, second = imported(api, content)
    assert [(error["field"], error["code"]) for error in first["errors"]] == [("rules", "not_a_list")]
    assert second["status"] == 201


def test_a_stranger_can_change_no_field(api: APIClient, strange_api: APIClient, make_link: MakeLink) -> None:
    link = make_link(**EVERYTHING)
    written = everything_written()
    assert strange_api.put(f"/api/urls/{link['_id']}", DEFAULTS).status_code == 404
    urls = [{"_id": link["_id"], **DEFAULTS}]
    [verdict] = strange_api.post("/api/urls/bulk-update", {"urls": urls}).json()["data"]["results"]
    assert (verdict["status"], verdict["code"]) == (404, "not_found")
    assert routing(whole(api, link)) == EVERYTHING
    assert everything_written() == written
    assert Route.objects.filter(until__isnull=False).count() == 0


def test_queries_of_updates(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    path = f"/api/urls/{link['_id']}"

    def queries(changes: dict[str, Any]) -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert api.put(path, changes).status_code == 200
        return len(captured)

    # Fields that decide where a link leads: the update locks and reads the link first.
    locking = queries({"forwardQuery": True})
    # One more for the check of new URLs, and one for the numbers of new branches.
    assert queries({"targetUrl": EVERYTHING["targetUrl"]}) == locking + 1
    assert queries(EVERYTHING) == locking + 2
    assert queries({"rules": whole(api, link)["rules"]}) == locking
    assert queries(DEFAULTS) == locking + 1
    # The credential, and the update with the codes to invalidate.
    assert queries({"title": "x"}) == 2


def test_queries_of_bulk_updates_do_not_grow_with_the_links(api: APIClient) -> None:
    links = [verdict["url"] for verdict in create_many(api, [{"originalUrl": URL}] * 12)]

    def queries(count: int, fields: dict[str, Any]) -> int:
        body = {"ids": [link["_id"] for link in links[:count]], "data": fields}
        with CaptureQueriesContext(connection) as captured:
            results(api.post("/api/urls/bulk-update", body), "updated")
        return len(captured)

    assert queries(1, EVERYTHING) == queries(12, EVERYTHING) == queries(12, {"title": "x"}) + 2
