"""Expensive request bodies: validation checks lengths before items, and counts errors instead of listing them all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.http import HttpResponse
from rest_framework.serializers import Field, ValidationError
from rest_framework.test import APIClient

from common.errors import MAX_REPORTED
from common.rest.fields import List, Text, has_at_most
from common.rest.unknown_fields import MAX_UNKNOWN
from links.models import Link
from testing.links.many import URL, create_many

MARKS = "\u0301\u0316"


def post(client: APIClient, path: str, body: Any) -> HttpResponse:
    text = json.dumps(body, separators=(",", ":"))
    return client.post(path, text, content_type="application/json")


def only_error(response: HttpResponse) -> tuple[str, str]:
    assert response.status_code == 400, response.content[:500]
    assert len(response.content) < 1_500
    refusal = response.json()
    [error] = refusal["errors"]
    assert "moreErrors" not in refusal
    return error["field"], error["code"]


class Untouchable(Field[Any, Any, Any, Any]):
    def run_validation(self, data: Any = None) -> Any:
        raise AssertionError("validated")


def test_no_item_of_a_list_that_is_too_long_is_validated() -> None:
    with pytest.raises(ValidationError) as refused:
        List(child=Untouchable(), max_length=2).run_validation([1, 2, 3])
    assert [detail.code for detail in refused.value.detail] == ["max_length"]


def test_bulk_creation_of_too_many(api: APIClient) -> None:
    assert only_error(post(api, "/api/urls/bulk", {"urls": [0] * 1_900_000})) == ("urls", "max_length")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["urls", "ids"])
def test_bulk_update_of_too_many(api: APIClient, name: str) -> None:
    body = {name: [0] * 1_900_000, "data": {}}
    response = post(api, "/api/urls/bulk-update", body)
    assert only_error(response) == (name, "max_length")


def test_bulk_deletion_of_too_many(api: APIClient) -> None:
    assert only_error(post(api, "/api/urls/bulk-delete", {"ids": [0] * 30_000})) == ("ids", "max_length")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"tags": [0] * 30_000}, "tags"),
        ({"restrictions": {"allowedCountries": [0] * 30_000}}, "restrictions.allowedCountries"),
        ({"restrictions": {"blockedCountries": [0] * 30_000}}, "restrictions.blockedCountries"),
        ({"restrictions": {"allowedDevices": [0] * 30_000}}, "restrictions.allowedDevices"),
    ],
)
def test_a_link_with_too_many(api: APIClient, fields: dict[str, Any], field: str, make_link: Any) -> None:
    link = make_link()
    assert only_error(post(api, "/api/urls", {"originalUrl": URL, **fields})) == (field, "max_length")
    text = json.dumps(fields, separators=(",", ":"))
    changed = api.put(f"/api/urls/{link['_id']}", text, content_type="application/json")
    assert only_error(changed) == (field, "max_length")


def test_an_imported_row_with_too_many(api: APIClient) -> None:
    rows = [{"originalUrl": URL, "tags": [0] * 100_000, "aliases": [0] * 100_000}]
    response = post(api, "/api/urls/import", {"content": json.dumps(rows), "dryRun": True})
    [result] = response.json()["data"]["results"]
    assert [(error["field"], error["code"]) for error in result["errors"]] == [
        ("tags", "max_length"),
        ("aliases", "max_length"),
    ]


def test_an_import_of_too_many_rows(api: APIClient) -> None:
    content = "[" + ",".join(["{}"] * 200_000) + "]"
    assert only_error(post(api, "/api/urls/import", {"content": content})) == ("content", "unknown_format")
    rows = json.dumps([{"originalUrl": URL}] * 10_001)
    assert only_error(post(api, "/api/urls/import", {"content": rows})) == ("content", "too_many_rows")


def test_twenty_errors_are_reported_and_the_others_counted(api: APIClient) -> None:
    body = {"tags": [0] * 50, "restrictions": {"allowedCountries": ["XX"] * 300, "maxClicks": 0}}
    refusal = post(api, "/api/urls", body).json()
    assert len(refusal["errors"]) == MAX_REPORTED
    # The 50 and the 300, the number of clicks, and the destination that is missing.
    assert refusal["moreErrors"] == 352 - MAX_REPORTED
    fields = [error["field"] for error in refusal["errors"]]
    assert fields == ["originalUrl", *(f"tags.{n}" for n in range(19))]


def test_exactly_twenty_errors_are_all_reported(api: APIClient) -> None:
    refusal = post(api, "/api/urls", {"originalUrl": URL, "tags": [0] * 20}).json()
    assert (len(refusal["errors"]), "moreErrors" in refusal) == (20, False)
    refusal = post(api, "/api/urls", {"originalUrl": URL, "tags": [0] * 21}).json()
    assert (len(refusal["errors"]), refusal["moreErrors"]) == (20, 1)


def test_unknown_keys_are_counted(api: APIClient) -> None:
    utm = {f"k{number:04}": 0 for number in range(5_000)}
    refusal = post(api, "/api/urls", {"originalUrl": URL, "utm": utm}).json()
    assert [error["field"] for error in refusal["errors"]] == [f"utm.k{number:04}" for number in range(20)]
    assert refusal["moreErrors"] == 4_980


def test_a_long_key_is_not_repeated(api: APIClient) -> None:
    response = post(api, "/api/urls/bulk", {"urls": [{"originalUrl": URL, "utm": {"k" * 3_000_000: 0}}]})
    assert len(response.content) < 1_500


def test_an_unknown_choice_is_not_repeated(api: APIClient, make_link: Any) -> None:
    body = {"urlId": make_link()["_id"], "format": "x" * 60_000}
    assert only_error(post(api, "/api/qr-codes", body)) == ("format", "invalid_choice")


@pytest.mark.slow
def test_the_response_to_many_invalid_items_stays_small(api: APIClient) -> None:
    bad = {"tags": [0] * 50, "restrictions": {"allowedCountries": [0] * 60}}
    response = post(api, "/api/urls/bulk", {"urls": [bad] * 1_000})
    results = response.json()["data"]["results"]
    assert [len(result["errors"]) for result in results] == [20] * 50 + [1] * 950
    assert {len(result["errors"]) + result["moreErrors"] for result in results} == {111}
    assert len(response.content) < 400_000


def test_the_same_changes_for_many_are_validated_once(api: APIClient) -> None:
    many = {f"key{number}": number for number in range(MAX_UNKNOWN + 1)}
    some = {f"key{number}": number for number in range(MAX_UNKNOWN)}
    ids = [verdict["url"]["_id"] for verdict in create_many(api, [{"originalUrl": URL}] * 200)]
    for data, succeeded in (
        ({"title": "newer", **many}, 0),
        ({"title": "new", **some}, 200),
        ({"title": "newer", "utm": many}, 0),
    ):
        response = post(api, "/api/urls/bulk-update", {"ids": ids, "data": data})
        assert response.json()["data"]["succeeded"] == succeeded
    endless = {f"key{number}": number for number in range(50_000)}
    refused = post(api, "/api/urls/bulk-update", {"ids": ids, "data": {"title": "newer", **endless}})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "too_large")
    assert set(Link.objects.values_list("title", flat=True)) == {"new"}


def test_unknown_names_beyond_the_limit_are_refused_and_counted(api: APIClient) -> None:
    body = {"originalUrl": URL, **{f"key{number}": number for number in range(MAX_UNKNOWN + 30)}}
    refusal = post(api, "/api/urls", body).json()
    assert (refusal["code"], len(refusal["errors"]), refusal["moreErrors"]) == ("unknown_field", 20, 10)
    assert refusal["errors"][0]["field"] == f"key{MAX_UNKNOWN}"


def test_the_response_to_many_ignored_fields_stays_small(api: APIClient) -> None:
    item = {"originalUrl": URL, **{f"key{number}": number for number in range(30)}}
    results = post(api, "/api/urls/bulk", {"urls": [item] * 100}).json()["data"]["results"]
    assert {result["status"] for result in results} == {201}
    assert [len(result["warnings"]) for result in results] == [20] * 50 + [1] * 50
    assert {len(result["warnings"]) + result["moreWarnings"] for result in results} == {30}


@pytest.mark.parametrize("field", ["title", "description"])
def test_a_run_of_combining_marks_is_refused_by_its_length(api: APIClient, field: str) -> None:
    """Normalised, these would keep a worker busy for an hour."""
    body = {"urls": [{"originalUrl": URL, field: "a" + MARKS * 500_000}]}
    [result] = json.loads(
        api.post(
            "/api/urls/bulk",
            json.dumps(body, ensure_ascii=False).encode(),
            content_type="application/json",
        ).content
    )["data"]["results"]
    assert [(error["field"], error["code"]) for error in result["errors"]] == [(field, "max_length")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * 50, True),
        ("a" * 51, False),
        ("e\u0301" * 50, True),
        ("e\u0301" * 51, False),
        # Four code points that NFC combines into one, the maximum.
        ("\u03b1\u0313\u0300\u0345" * 50, True),
        ("\u03b1\u0313\u0300\u0345" * 51, False),
        # One code point that NFC decomposes into two.
        ("\u0958" * 25, True),
        ("\u0958" * 26, False),
    ],
)
def test_characters_are_counted_after_nfc(text: str, expected: bool) -> None:
    assert has_at_most(50, text) is expected
    field = Text(characters=50)
    if expected:
        assert field.run_validation(text) == text
    else:
        with pytest.raises(ValidationError):
            field.run_validation(text)


def test_a_long_name_at_the_login_page_is_refused(operator: Any) -> None:
    operator.logout()
    page = operator.get("/accounts/login/")
    token = page.context["csrf_token"]
    body = {"login": "a" + MARKS * 20_000, "password": "x", "csrfmiddlewaretoken": str(token)}
    assert operator.post("/accounts/login/", body).status_code == 200
