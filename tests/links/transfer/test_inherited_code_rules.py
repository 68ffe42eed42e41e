"""Which inherited codes are refused, and what their owner may do with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from links.models import Code, Link
from testing.cases import for_each
from testing.links.many import URL, imported
from testing.refusals import broken_rules
from tests.links.exports import export
from tests.links.transfer.inherited import CODES, table, target
from tests.links.transfer.inherited import links as links

MakeLink = Callable[..., dict[str, Any]]


@for_each(
    "code",
    [
        *("api", "Admin", "qr", "login", "favicon.ico", "robots.txt", ".well-known", "apple-touch-icon.png"),
        *("sign-in", "login.php"),
    ],
)
@for_each("field", ["customCode", "shortCode", "aliases"])
@pytest.mark.slow
def test_a_reserved_inherited_code_is_refused_in_its_row(api: APIClient, code: str, field: str) -> None:
    rows = [{"originalUrl": URL, field: [code] if field == "aliases" else code}, {"originalUrl": URL}]
    for dry_run in (True, False):
        refused, accepted = imported(api, "\n".join(map(json.dumps, rows)), dry_run=dry_run)
        assert (refused["status"], refused["code"]) == (409, "code_reserved")
        assert refused["message"] == f"The code {code} is reserved."
        assert accepted["status"] == 201


@pytest.mark.parametrize("code", [".", "..", "a b", "a/b", "a+", "caf\u00e9", "x" * 256])
def test_a_code_that_no_request_can_name_is_refused_in_its_row(api: APIClient, code: str) -> None:
    for dry_run in (True, False):
        [refused] = imported(api, json.dumps({"originalUrl": URL, "customCode": code}), dry_run=dry_run)
        assert refused["status"] == 400
        assert [(error["field"], error["code"]) for error in refused["errors"]] == [("customCode", "code")]
        assert refused["errors"][0]["message"] == (
            "Must be 1 to 255 letters (A-Z, a-z), digits and - . _ ~, but not . or .. alone."
        )


def test_a_percent_encoded_address_in_an_export_is_decoded(api: APIClient, visitor: Client) -> None:
    content = table("Short link,Destination URL", ["https://dub.sh/spring%2Dsale", URL])
    assert imported(api, content)[0]["url"]["customCode"] == "spring-sale"
    assert visitor.get("/spring-sale")["Location"] == URL


@pytest.mark.parametrize("code", ["spring-sale", "a", "v1.2", "~tom", "x" * 51])
def test_clients_cannot_choose_such_a_code(api: APIClient, make_link: MakeLink, code: str) -> None:
    link = make_link()
    path = f"/api/urls/{link['_id']}"
    message = "Must be 3 to 50 letters and digits (A-Z, a-z, 0-9)."
    for response in (
        api.post("/api/urls", {"originalUrl": URL, "customCode": code}),
        api.put(path, {"customCode": code}),
    ):
        assert response.status_code == 400
        assert broken_rules(response) == [("customCode", "code")]
        assert response.json()["errors"][0]["message"] == message
    bodies = {
        "bulk": {"urls": [{"originalUrl": URL, "customCode": code}]},
        "bulk-update": {"ids": [link["_id"]], "data": {"customCode": code}},
    }
    for name, body in bodies.items():
        [result] = api.post(f"/api/urls/{name}", body).json()["data"]["results"]
        assert [(error["field"], error["code"]) for error in result["errors"]] == [("customCode", "code")]
    assert Code.objects.filter(code=code).count() == 0


@pytest.mark.parametrize("code", CODES)
def test_a_client_may_send_a_whole_imported_link_back(
    api: APIClient, links: dict[str, Any], visitor: Client, code: str
) -> None:
    path = f"/api/urls/{links[code]['_id']}"
    whole = api.get(path).json()["data"]["url"]
    assert whole["customCode"] == code
    assert api.put(path, {**whole, "title": "kept"}).status_code == 200
    body = {"urls": [{"_id": links[code]["_id"], "customCode": code, "title": "again"}]}
    assert api.post("/api/urls/bulk-update", body).json()["data"]["succeeded"] == 1
    assert api.get(path).json()["data"]["url"] | {"updatedAt": ""} == whole | {
        "title": "again",
        "updatedAt": "",
    }
    assert visitor.get(f"/{code}")["Location"] == target(code)


def test_a_renamed_link_keeps_its_inherited_code_as_an_alias(
    api: APIClient, links: dict[str, Any], visitor: Client
) -> None:
    path = f"/api/urls/{links['spring-sale']['_id']}"
    assert api.put(path, {"customCode": "spring"}).status_code == 200
    assert Code.objects.get(code="spring-sale").kind == "alias"
    locations = {visitor.get(f"/{code}")["Location"] for code in ("spring", "spring-sale")}
    assert locations == {target("spring-sale")}
    assert broken_rules(api.put(path, {"customCode": "spring-sale"})) == [("customCode", "code")]


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_an_export_with_inherited_codes_can_be_imported_again(
    api: APIClient, links: dict[str, Any], visitor: Client, file_format: str
) -> None:
    api.put(f"/api/urls/{links['-']['_id']}", {"customCode": "minus"})
    content = export(api, format=file_format)
    before = {line["shortCode"]: line for line in map(json.loads, export(api, format="jsonl").splitlines())}
    api.post("/api/urls/bulk-delete", {"ids": [link["_id"] for link in links.values()]})
    assert Link.objects.count() == 0
    assert {verdict["status"] for verdict in imported(api, content)} == {201}
    after = {line["shortCode"]: line for line in map(json.loads, export(api, format="jsonl").splitlines())}
    unchanged = ("customCode", "aliases", "originalUrl", "clickCount", "createdAt")
    assert {code: [line[name] for name in unchanged] for code, line in after.items()} == {
        code: [line[name] for name in unchanged] for code, line in before.items()
    }
    assert [visitor.get(f"/{code}")["Location"] for code in CODES] == [target(code) for code in CODES]
