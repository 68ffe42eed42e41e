from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from domains.models import Domain
from links.transfer import exports
from links.transfer.cells import unguard
from testing.cases import for_each
from testing.links import routing_fields as routing
from testing.links.many import URL
from testing.refusals import broken_rules
from tests.links.exports import export, rows
from tests.links.transfer.formulas import PAYLOADS

MakeLink = Callable[..., dict[str, Any]]
EVERYTHING = {
    "customCode": "Launch2030",
    "title": 'Läunch, "quoted"\r\nline',
    "description": "  The launch page",
    "tags": ["Marketing", "q4, {x}", 'say "hi"', "-minus"],
    "expiresAt": "2030-12-31T23:59:59Z",
    "utm": {"source": "mail", "campaign": "=spring", "term": "a b"},
    "restrictions": {
        "maxClicks": 100,
        "allowedCountries": ["DE", "AT"],
        "blockedCountries": ["FR"],
        "allowedDevices": ["desktop", "mobile"],
    },
    "redirectType": 301,
}


def records(client: APIClient, **query: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export(client, format="jsonl", **query).splitlines()]


def test_a_json_line_has_every_field(api: APIClient, make_link: MakeLink, brand: Domain) -> None:
    created = make_link(URL, **EVERYTHING, domainId=str(brand.public_id), password="open")
    api.put(f"/api/urls/{created['_id']}", {"customCode": "Launch2031"})
    whole = api.get(f"/api/urls/{created['_id']}").json()["data"]["url"]
    [record] = records(api)
    assert record == {
        **{name: value for name, value in whole.items() if name not in ("creator", "domainId", "health")},
        "domain": "go.brand.example",
        "aliases": ["Launch2030"],
    }


def test_a_csv_row_has_every_field(api: APIClient, make_link: MakeLink) -> None:
    created = make_link(URL, **EVERYTHING)
    [row] = rows(api)
    whole = api.get(f"/api/urls/{created['_id']}").json()["data"]["url"]
    assert row == {
        "_id": created["_id"],
        "shortUrl": "http://sho.rt/Launch2030",
        "domain": "",
        "shortCode": created["shortCode"],
        "customCode": "Launch2030",
        "aliases": "",
        "originalUrl": URL,
        "title": 'Läunch, "quoted"\r\nline',
        "description": "  The launch page",
        "tags": 'Marketing,"q4, {x}","say ""hi""",-minus',
        "isActive": "true",
        "expiresAt": "2030-12-31T23:59:59Z",
        "hasPassword": "false",
        "redirectType": "301",
        "clickCount": "0",
        "createdAt": created["createdAt"],
        "updatedAt": whole["updatedAt"],
        "maxClicks": "100",
        "maxClicksPerVisitor": "",
        "allowedCountries": "DE,AT",
        "blockedCountries": "FR",
        "allowedDevices": "desktop,mobile",
        "utmSource": "mail",
        "utmMedium": "",
        "utmCampaign": "'=spring",
        "utmTerm": "a b",
        "utmContent": "",
        **dict.fromkeys(routing.DEFAULTS, ""),
        "forwardQuery": "false",
        "externalId": "",
        "isArchived": "false",
        "status": "active",
    }


def test_csv_cells_of_rules_and_splits_have_the_json_of_the_api(api: APIClient, make_link: MakeLink) -> None:
    made = make_link(URL, **routing.EVERYTHING)
    [row] = rows(api)
    whole = api.get(f"/api/urls/{made['_id']}").json()["data"]["url"]
    json_fields = ("rules", "split", "preview")
    assert {name: json.loads(row[name]) for name in json_fields} == {
        name: whole[name] for name in json_fields
    }
    assert {name: row[name] for name in routing.DEFAULTS.keys() - json_fields} == {
        name: routing.EVERYTHING[name] for name in routing.DEFAULTS.keys() - json_fields
    } | {"forwardQuery": "true"}


@for_each("payload", PAYLOADS)
@pytest.mark.slow
def test_cells_with_formulas_are_escaped(api: APIClient, make_link: MakeLink, payload: str) -> None:
    utm = dict.fromkeys(("source", "medium", "campaign", "term", "content"), payload)
    make_link(title=payload, description=payload, tags=[payload, "x"], utm=utm)
    [row] = rows(api)
    assert [
        name for name, cell in row.items() if cell[:1] in set("=+-@|%\t\r\n\uff1d\uff0b\uff0d\uff20")
    ] == []
    assert [name for name, cell in row.items() if cell.lstrip()[:1] in set("=+-@|%")] == []
    assert {unguard(row[name]) for name in ("title", "description", "utmSource", "utmContent")} == {payload}


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_an_export_can_be_imported_again(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, brand: Domain, file_format: str
) -> None:
    make_link("https://example.com/ä?q=1", **EVERYTHING)
    renamed = make_link(customCode="before")
    api.put(f"/api/urls/{renamed['_id']}", {"customCode": "after", "isActive": False})
    make_link(domainId=str(brand.public_id), customCode="branded", title=" = x")
    for n, payload in enumerate(PAYLOADS):
        make_link(f"{URL}/{n}", title=payload, tags=[payload])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_clickcounter SET clicks = link_id + 7, imported = link_id + 7")
        cursor.execute("UPDATE links_link SET created_at = created_at - id * interval '1 day'")
    content, before = export(api, format=file_format), records(api)
    # An import fails while the links exist, and for any other account.
    for client in (api, strange_api):
        result = client.post("/api/urls/import", {"content": content, "dryRun": False}).json()["data"]
        assert (result["format"], result["succeeded"]) == ("own", 0)
    deleted = api.post("/api/urls/bulk-delete", {"ids": [record["_id"] for record in before]})
    assert deleted.json()["data"]["failed"] == 0
    result = api.post("/api/urls/import", {"content": content, "dryRun": False}).json()["data"]
    assert result["failed"] == 0, result
    kept = [name for name in before[0] if name not in ("_id", "updatedAt")]
    assert [{name: record[name] for name in kept} for record in records(api)] == [
        {name: record[name] for name in kept} for record in before
    ]


def test_newest_links_come_first_and_links_of_others_are_absent(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    strange_api.post("/api/urls", {"originalUrl": URL})
    created = [make_link(f"{URL}/{n}")["_id"] for n in range(3)]
    assert [record["_id"] for record in records(api)] == created[::-1]
    assert len(records(strange_api)) == 1


def test_an_export_without_links_is_empty(api: APIClient) -> None:
    assert export(api) == ",".join(exports.COLUMNS) + "\r\n"
    assert export(api, format="jsonl") == ""


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_filters_are_those_of_the_list(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(exports, "BATCH", batch)
    for n in range(7):
        link = make_link(
            f"{URL}/{n % 2}", title=f"Title {n}", tags=["Even" if n % 2 == 0 else "odd", f"t{n}"]
        )
        if n % 3 == 0:
            api.put(f"/api/urls/{link['_id']}", {"isActive": False})
    with connection.cursor() as cursor:
        # The id decides the order of links with the same date.
        cursor.execute("UPDATE links_link SET created_at = date_trunc('day', created_at)")
    queries: list[dict[str, str]] = [
        {},
        {"search": "title"},
        {"search": "page/1"},
        {"search": "nothing like it"},
        {"search": "%"},
        {"tags": "even"},
        {"tags": "ODD, t0"},
        {"isActive": "false"},
        {"isActive": "true", "tags": "even", "search": "4"},
    ]
    for query in queries:
        listed = [url["_id"] for url in api.get("/api/urls", query).json()["data"]["urls"]]
        assert [record["_id"] for record in records(api, **query)] == listed, query
        assert [row["_id"] for row in rows(api, **query)] == listed


@pytest.mark.parametrize(
    ("query", "broken"),
    [
        ({"format": "xlsx"}, ("format", "invalid_choice")),
        ({"isActive": "maybe"}, ("isActive", "invalid")),
        ({"search": "x" * 519}, ("search", "max_length")),
        ({"tags": "x" * 51}, ("tags", "tag")),
    ],
)
def test_bad_queries_are_refused(api: APIClient, query: dict[str, str], broken: tuple[str, str]) -> None:
    response = api.get("/api/urls/export", query)
    assert response.status_code == 400
    assert broken_rules(response) == [broken]
