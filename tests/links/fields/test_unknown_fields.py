"""Unknown fields of links: a misspelt protection is refused, any other name is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from links.models import Link
from links.transfer.exports import COLUMNS
from testing.cases import for_each
from testing.links.many import imported
from testing.refusals import broken_rules
from tests.links.fields.warnings_of_fields import STRICT, URL, MakeLink


def ignored(*names: str, noun: str = "field") -> list[dict[str, str]]:
    message = f"Unknown {noun}; it was ignored."
    return [{"field": name, "code": "unknown_field", "message": message} for name in names]


@for_each(
    ("fields", "meant"),
    [
        ({"pasword": "secret"}, "password"),
        ({"Password": "secret"}, "password"),
        ({"expires_at": "2020-01-01"}, "expiresAt"),
        ({"expiresAtt": "2020-01-01"}, "expiresAt"),
        ({"is_active": False}, "isActive"),
        ({"maxClicks": 1}, "restrictions.maxClicks"),
        ({"max_clicks": 1}, "restrictions.maxClicks"),
        ({"maxClik": 3}, "restrictions.maxClicks"),
        ({"max_clik": 3}, "restrictions.maxClicks"),
        ({"allowedCountries": ["DE"]}, "restrictions.allowedCountries"),
        ({"allowCountries": ["DE"]}, "restrictions.allowedCountries"),
        ({"blockCountries": ["DE"]}, "restrictions.blockedCountries"),
        ({"Source": "mail"}, "utm.source"),
        ({"restriction": {"maxClicks": 1}}, "restrictions"),
        ({"restrictions": {"max_clicks": 1}}, "restrictions.maxClicks"),
        ({"restrictions": {"expiresAt": "2020-01-01"}}, "expiresAt"),
        ({"utm_source": "mail"}, "utm.source"),
        ({"utm": {"utm_source": "mail"}}, "utm.source"),
        ({"tag": ["sale"]}, "tags"),
        ({"custom-code": "spring"}, "customCode"),
    ],
)
@pytest.mark.slow
def test_a_misspelt_field_creates_and_changes_nothing(
    api: APIClient, make_link: MakeLink, fields: dict[str, Any], meant: str
) -> None:
    link = make_link()
    before = Link.objects.values().get()
    [(name, value)] = fields.items()
    is_nested = isinstance(value, dict) and meant != name and name in ("restrictions", "utm")
    field = f"{name}.{next(iter(value))}" if is_nested else name
    responses = [
        api.post("/api/urls", {"originalUrl": URL, **fields}),
        api.put(f"/api/urls/{link['_id']}", fields),
    ]
    item = {"_id": link["_id"], **fields}
    bulk = [
        api.post("/api/urls/bulk", {"urls": [{"originalUrl": URL, **fields}]}),
        api.post("/api/urls/bulk-update", {"urls": [item]}),
        api.post("/api/urls/bulk-update", {"ids": [link["_id"]], "data": fields}),
    ]
    results = [response.json()["data"]["results"][0] for response in bulk]
    message = f"Unknown field. Did you mean {meant}?"
    for body in (*(response.json() for response in responses), *results):
        assert (body["success"], body["code"]) == (False, "unknown_field")
        assert body["message"] == f"{field}: {message}"
        assert body["errors"] == [
            {"field": field, "code": "unknown_field", "message": message, "didYouMean": meant}
        ]
    assert [response.status_code for response in responses] + [result["status"] for result in results] == [
        400
    ] * 5
    assert Link.objects.values().get() == before


def test_any_other_field_is_ignored_with_a_warning(api: APIClient, make_link: MakeLink) -> None:
    link, unknown = make_link(), {"colour": "red", "note": {"password": 1}}
    created = api.post("/api/urls", {"originalUrl": URL, "title": "x", **unknown})
    assert created.status_code == 201
    assert created.json()["warnings"] == ignored("colour", "note")
    assert created.json()["data"]["url"]["title"] == "x"
    changed = api.put(f"/api/urls/{link['_id']}", {"title": "y", **unknown})
    assert (changed.status_code, changed.json()["warnings"]) == (200, ignored("colour", "note"))
    assert changed.json()["data"]["url"]["title"] == "y"


@pytest.mark.parametrize("name", ["team", "context", "resource", "germ"])
def test_a_short_name_one_level_below_is_compared_without_edits(api: APIClient, name: str) -> None:
    response = api.post("/api/urls", {"originalUrl": URL, name: "x"})
    assert (response.status_code, response.json().get("warnings")) == (201, ignored(name))


def test_a_response_without_warnings_has_no_such_key(api: APIClient) -> None:
    assert api.post("/api/urls", {"originalUrl": URL}).json().keys() == {"success", "message", "data"}


def test_each_item_of_a_bulk_call_has_its_own_warnings(api: APIClient, make_link: MakeLink) -> None:
    body = {"urls": [{"originalUrl": URL}, {"originalUrl": URL, "colour": 1}, {"colour": 1}], "hue": 1}
    response = api.post("/api/urls/bulk", body).json()
    assert response["warnings"] == ignored("hue")
    results = response["data"]["results"]
    assert [result["status"] for result in results] == [201, 201, 400]
    assert [result.get("warnings") for result in results] == [None, ignored("colour"), None]
    ids = [make_link()["_id"] for _ in range(2)]
    body = {"ids": [*ids, "x"], "data": {"title": "new", "colour": 1}}
    results = api.post("/api/urls/bulk-update", body).json()["data"]["results"]
    assert [result.get("warnings") for result in results] == [ignored("colour")] * 2 + [None]


@pytest.mark.parametrize(
    ("path", "body", "meant"),
    [
        ("bulk", {"urls": [{"originalUrl": URL}], "password": "x"}, "urls.0.password"),
        ("bulk", {"urls": [{"originalUrl": URL}], "pasword": "x"}, "urls.0.password"),
        ("bulk", {"URLS": []}, "urls"),
        ("bulk-update", {"ids": ["x"], "data": {}, "isActive": False}, "data.isActive"),
        ("bulk-delete", {"ids": ["x"], "id": "x"}, "ids"),
        ("import", {"content": "x", "dry_run": False}, "dryRun"),
    ],
)
def test_fields_of_a_bulk_call_are_compared_with_those_of_its_items(
    api: APIClient, path: str, body: dict[str, Any], meant: str
) -> None:
    response = api.post(f"/api/urls/{path}", body)
    assert response.status_code == 400
    assert response.json()["errors"][0]["didYouMean"] == meant
    assert not Link.objects.exists()


def test_changes_nested_too_deep_are_refused(api: APIClient, make_link: MakeLink) -> None:
    body = {"urls": [{"_id": make_link()["_id"], "data": {"isActive": False}}]}
    [result] = api.post("/api/urls/bulk-update", body).json()["data"]["results"]
    assert (result["status"], result["errors"][0]["didYouMean"]) == (400, "data")


def test_unknown_names_do_not_hide_other_errors(api: APIClient) -> None:
    response = api.post("/api/urls", {"orignalUrl": URL, "title": 5})
    assert broken_rules(response) == [
        ("orignalUrl", "unknown_field"),
        ("originalUrl", "required"),
        ("title", "invalid"),
    ]
    assert response.json()["code"] == "validation_error"


@pytest.mark.parametrize(
    ("query", "meant"),
    [("serach=x", "search"), ("tag=x", "tags"), ("is_active=false", "isActive"), ("sort_by=title", "sortBy"),
     ("limt=5", "limit"), ("Page=2", "page"), ("tags[]=x", "tags")],
)  # fmt: skip
def test_a_misspelt_parameter_is_refused(api: APIClient, query: str, meant: str) -> None:
    paths = ["/api/urls", "/api/urls/export"] if meant in ("search", "tags", "isActive") else ["/api/urls"]
    for path in paths:
        response = api.get(f"{path}?{query}")
        field = query.partition("=")[0]
        assert broken_rules(response) == [(field, "unknown_field")]
        [error] = response.json()["errors"]
        assert error["didYouMean"] == meant
        assert error["message"] == f"Unknown parameter. Did you mean {meant}?"


@pytest.mark.parametrize("query", ["q=x", "_=1700000000", "a=1", "v=2", "order=asc"])
def test_short_or_other_parameters_are_ignored_with_a_warning(api: APIClient, query: str) -> None:
    name = query.partition("=")[0]
    response = api.get(f"/api/urls?{query}")
    assert (response.status_code, response.json()["warnings"]) == (200, ignored(name, noun="parameter"))
    assert api.get(f"/api/urls/export?{query}").status_code == 200


def test_a_repeated_request_returns_the_same_warnings(api: APIClient) -> None:
    body, key = {"originalUrl": URL, "colour": 1}, {"idempotency-key": "one"}
    first = api.post("/api/urls", body, headers=key)
    assert first.json()["warnings"] == ignored("colour")
    again = api.post("/api/urls", body, headers=key)
    assert (again.json(), again["Idempotent-Replayed"]) == (first.json(), "true")
    other_query = api.post("/api/urls?hue=1", body, headers=key)
    assert other_query.json() == first.json()
    # The stored response was not created with this preference.
    strict = api.post("/api/urls", body, headers={**key, **STRICT})
    assert (strict.json(), "Preference-Applied" in strict.headers) == (first.json(), False)


def test_twenty_warnings_are_reported_and_the_others_counted(api: APIClient) -> None:
    body = {"originalUrl": URL, **{f"key{number:02}": 1 for number in range(30)}}
    response = api.post("/api/urls", body).json()
    assert response["warnings"] == ignored(*(f"key{number:02}" for number in range(20)))
    assert response["moreWarnings"] == 10


# isActive of a new link


@pytest.mark.parametrize("value", [True, False, None])
def test_a_link_is_created_active_or_not(api: APIClient, visitor: Client, value: bool | None) -> None:
    # Null means the default.
    is_active = value is not False
    status = 302 if is_active else 410
    fields = {"originalUrl": URL, "isActive": value}
    single = api.post("/api/urls", fields).json()["data"]["url"]
    [result] = api.post("/api/urls/bulk", {"urls": [fields]}).json()["data"]["results"]
    [row] = imported(api, json.dumps(fields))
    for link in (single, result["url"], row["url"]):
        read = api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]
        assert read["isActive"] is link.get("isActive", is_active) is is_active
        assert visitor.get(f"/{link['shortCode']}").status_code == status
    stats = api.get("/api/urls/stats").json()["data"]["stats"]
    assert (stats["totalUrls"], stats["activeUrls"]) == (3, 3 if is_active else 0)
    assert "isActive" in COLUMNS


@pytest.mark.parametrize("value", ["false", 0, 1, [], {}])
def test_is_active_of_a_new_link_is_a_boolean(api: APIClient, value: Any) -> None:
    assert broken_rules(api.post("/api/urls", {"originalUrl": URL, "isActive": value})) == [
        ("isActive", "invalid")
    ]


def test_an_update_of_is_active_refuses_null(api: APIClient, make_link: MakeLink) -> None:
    path = f"/api/urls/{make_link()['_id']}"
    assert broken_rules(api.put(path, {"isActive": None})) == [("isActive", "null")]
