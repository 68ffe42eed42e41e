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
from bans.services import ban_host
from common.http.urls import canonical_destination
from domains.models import Domain
from links.bulk.creation import Drafting, store_drafts
from links.bulk.services import create_links
from links.models import Code, Link
from testing.accounts.accounts import key_client
from testing.links.drawn_codes import draw_codes
from testing.links.many import UNKNOWN_ID, URL, create_many
from testing.refusals import broken_rules
from testing.threads import at_once
from tests.links.creation import everything_written

DESTINATION = canonical_destination(URL)


def test_a_result_equals_the_response_of_a_single_call(api: APIClient) -> None:
    fields = {"originalUrl": URL, "customCode": "spring", "title": "Spring", "tags": ["a", "B"]}
    [result] = create_many(api, [fields])
    url = result["url"]
    assert result == {"index": 0, "success": True, "status": 201, "url": url}
    assert url == {
        "_id": url["_id"],
        "originalUrl": URL,
        "shortCode": url["shortCode"],
        "customCode": "spring",
        "shortUrl": "http://sho.rt/spring",
        "title": "Spring",
        "tags": ["a", "B"],
        "clickCount": 0,
        "isActive": True,
        "status": "active",
        "createdAt": url["createdAt"],
    }
    whole = api.get(f"/api/urls/{url['_id']}").json()["data"]["url"]
    assert {name: whole[name] for name in url} == url
    assert whole["updatedAt"] == url["createdAt"]


def test_every_field_is_kept(api: APIClient, brand: Domain) -> None:
    fields: dict[str, Any] = {
        "originalUrl": "https://example.com/ä?q=1#x",
        "customCode": "Launch2030",
        "title": "Läunch\t\\N",
        "description": 'The "launch", page',
        "tags": ["Marketing", "q4, {x}", 'say "hi"', "back\\slash", "NULL"],
        "expiresAt": "2030-12-31T23:59:59Z",
        "domainId": str(brand.public_id),
        "utm": {"source": "mail", "campaign": "\\ {} ü"},
        "restrictions": {"maxClicks": 5, "allowedCountries": ["DE"], "allowedDevices": ["mobile"]},
        "redirectType": 301,
    }
    [result] = create_many(api, [{**fields, "password": "open sesame"}])
    read = api.get(f"/api/urls/{result['url']['_id']}").json()["data"]["url"]
    assert {name: read[name] for name in fields} == fields
    assert read["hasPassword"] is True
    assert read["shortUrl"] == "https://go.brand.example/Launch2030"
    assert [
        (code.domain_id, code.kind) for code in Code.objects.filter(link__public_id=read["_id"]).order_by("kind")
    ] == [(brand.pk, "custom"), (None, "reserved"), (brand.pk, "short")]  # fmt: skip


def test_the_links_work_and_are_listed(api: APIClient, visitor: Client) -> None:
    verdicts = create_many(api, [{"originalUrl": f"{URL}/{n}", "customCode": f"bulk{n}"} for n in range(3)])
    for n, result in enumerate(verdicts):
        for code in (f"bulk{n}", result["url"]["shortCode"]):
            assert visitor.get(f"/{code}")["Location"] == f"{URL}/{n}"
    listed = api.get("/api/urls?search=page/1").json()["data"]
    assert [url["_id"] for url in listed["urls"]] == [verdicts[1]["url"]["_id"]]
    assert api.get("/api/urls/stats").json()["totalLinks"] == 3


REFUSED = [
    {},
    {"originalUrl": "ftp://example.com/"},
    {"originalUrl": URL, "customCode": "a-b"},
    {"originalUrl": URL, "customCode": "admin"},
    {"originalUrl": URL, "customCode": "taken"},
    {"originalUrl": URL, "domainId": UNKNOWN_ID},
    {"originalUrl": URL, "domainId": "x"},
    {"originalUrl": "http://sho.rt/abc"},
    {"originalUrl": "https://hers.example/abc"},
    {"originalUrl": "https://banned.example/abc"},
    {"originalUrl": URL, "title": "x" * 201, "tags": [""], "restrictions": {"maxClicks": 0, "colour": 1}},
    {"originalUrl": URL, "tags": ["x"] * 51},
    {"originalUrl": URL, "utm": {"source": 5}},
    {"originalUrl": URL, "expiresAt": "tomorrow"},
]


@pytest.mark.django_db(transaction=True)
def test_errors_equal_those_of_a_single_call(api: APIClient, stranger: NewAccount) -> None:
    Domain.objects.create(
        owner=stranger.workspace, domain="hers.example", host="hers.example", status="active"
    )
    other_domain = Domain.objects.get()
    ban_host(host="banned.example")
    api.post("/api/urls", {"originalUrl": URL, "customCode": "taken"})
    refused = [*REFUSED, {"originalUrl": URL, "domainId": str(other_domain.public_id)}]
    good = {"originalUrl": URL}
    before = Link.objects.count()
    verdicts = create_many(api, [item for body in refused for item in (body, good)])
    for place, body in enumerate(refused):
        alone = api.post("/api/urls", body)
        assert verdicts[2 * place] == {"index": 2 * place, "status": alone.status_code, **alone.json()}
        assert verdicts[2 * place]["success"] is False
        assert verdicts[2 * place + 1]["success"] is True
    assert Link.objects.count() == before + len(refused)
    assert Code.objects.count() == Link.objects.count() + 1


def test_the_first_item_with_a_code_gets_it(api: APIClient) -> None:
    verdicts = create_many(api, [{"originalUrl": f"{URL}/{n}", "customCode": "same"} for n in range(3)])
    assert [verdict["status"] for verdict in verdicts] == [201, 409, 409]
    assert Link.objects.get().original_url == f"{URL}/0"
    # Codes are case-sensitive.
    assert create_many(api, [{"originalUrl": URL, "customCode": "SAME"}])[0]["success"] is True


def test_a_code_on_a_domain_is_not_the_same_on_another(api: APIClient, brand: Domain) -> None:
    domains = ("base", str(brand.public_id))
    items = [{"originalUrl": URL, "customCode": "same", "domainId": domain} for domain in domains]
    assert [verdict["status"] for verdict in create_many(api, items)] == [201, 201]
    assert [verdict["status"] for verdict in create_many(api, items)] == [409, 409]


def test_only_the_former_owner_can_reuse_a_held_code(api: APIClient, strange_api: APIClient) -> None:
    link = api.post("/api/urls", {"originalUrl": URL, "customCode": "held"}).json()["data"]["url"]
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    assert [
        verdict["code"] for verdict in create_many(strange_api, [{"originalUrl": URL, "customCode": "held"}])
    ] == ["code_taken"]
    assert create_many(api, [{"originalUrl": URL, "customCode": "held"}])[0]["success"] is True


def test_a_taken_generated_code_is_regenerated(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    draw_codes(monkeypatch, "Aaaaaaa", "Bbbbbbb", "Bbbbbbb", "Bbbbbbb", "custom1", "Ccccccc")
    api.post("/api/urls/bulk", {"urls": [{"originalUrl": URL}, {"originalUrl": URL}]})
    verdicts = create_many(api, [{"originalUrl": URL, "customCode": "custom1"}])
    assert verdicts[0]["url"]["shortCode"] == "Ccccccc"
    assert sorted(Link.objects.values_list("short_code", flat=True)) == ["Aaaaaaa", "Bbbbbbb", "Ccccccc"]


def test_a_thousand_take_as_many_statements_as_one(api: APIClient) -> None:
    def statements(count: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            verdicts = create_many(
                api, [{"originalUrl": URL, "customCode": f"x{count}n{n}"} for n in range(count)]
            )
        assert all(verdict["success"] for verdict in verdicts)
        return len(queries)

    assert statements(1) == statements(3) == statements(1000)
    assert Link.objects.count() == 1004


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ({}, [("urls", "required")]),
        ({"urls": []}, [("urls", "min_length")]),
        ({"urls": {}}, [("urls", "not_a_list")]),
        ({"urls": None}, [("urls", "null")]),
        ({"urls": [{"originalUrl": URL}] * 1001}, [("urls", "max_length")]),
    ],
)
def test_a_body_without_a_list_is_refused(
    api: APIClient, body: dict[str, Any], rules: list[tuple[str, str]]
) -> None:
    before = everything_written()
    response = api.post("/api/urls/bulk", body)
    assert response.status_code == 400
    assert broken_rules(response) == rules
    assert everything_written() == before


def test_items_that_are_no_objects_fail_alone(api: APIClient) -> None:
    verdicts = create_many(api, [{"originalUrl": URL}, "x", None, 3, [], {"originalUrl": URL}])
    assert [verdict["status"] for verdict in verdicts] == [201, 400, 400, 400, 400, 201]
    assert verdicts[1] == {
        "index": 1,
        "status": 400,
        "success": False,
        "message": "An item must be a JSON object.",
        "code": "invalid_json",
    }
    updated = api.post(
        "/api/urls/bulk-update", {"urls": [None, {"_id": verdicts[0]["url"]["_id"], "title": "new"}]}
    )
    assert [result["status"] for result in updated.json()["data"]["results"]] == [400, 200]


def test_at_most_a_hundred_passwords_are_set_in_one_call(api: APIClient) -> None:
    passwords: list[dict[str, str]] = [{"password": "sesame"}] * 101 + [{}]
    verdicts = create_many(api, [{"originalUrl": URL, **password} for password in passwords])
    assert [verdict["status"] for verdict in verdicts] == [201] * 100 + [400, 201]
    assert verdicts[100]["errors"] == [
        {"field": "password", "code": "too_many", "message": "At most 100 passwords can be set in one call."}
    ]


def test_bodies_up_to_four_megabytes_are_accepted(api: APIClient) -> None:
    text = "x" * 4000
    most = {"urls": [{"originalUrl": URL, "title": text}] * 1000}
    verdicts = create_many(api, most["urls"])
    assert {verdict["status"] for verdict in verdicts} == {400}


@pytest.mark.django_db(transaction=True)
def test_a_concurrently_deleted_domain_is_not_found(alice: NewAccount, brand: Domain) -> None:
    items = [{"destination": DESTINATION, "domain_id": str(brand.public_id)}, {"destination": DESTINATION}]
    drafting = Drafting(alice.workspace)
    drafts = [drafting.draft(item) for item in items]
    Domain.objects.all().delete()
    outcomes = store_drafts(alice.workspace, drafts)
    assert [getattr(outcome, "status", 201) for outcome in outcomes] == [404, 201]


@pytest.mark.django_db(transaction=True)
def test_concurrent_calls_give_each_code_to_one_link(alice: NewAccount, stranger: NewAccount) -> None:
    same_codes = [{"destination": DESTINATION, "custom_code": f"race{n}"} for n in range(200)]

    def create(owner: Workspace, items: list[dict[str, Any]]) -> list[Any]:
        return create_links(owner=owner, items=items).verdicts

    verdicts = at_once(
        [
            partial(create, owner, items)
            for owner in (alice.workspace, stranger.workspace)
            for items in (same_codes, same_codes[::-1])
        ]
    )
    won = [outcome for outcomes in verdicts for outcome in outcomes if isinstance(outcome, Link)]
    assert sorted(link.custom_code or "" for link in won) == sorted(f"race{n}" for n in range(200))
    assert Link.objects.count() == 200
    assert Code.objects.count() == 400


def test_a_token_creates_as_a_key_does(bearer: APIClient, make_link: Callable[..., Any]) -> None:
    assert create_many(bearer, [{"originalUrl": URL}])[0]["success"] is True


def test_links_belong_to_the_caller(stranger: NewAccount, api: APIClient) -> None:
    [result] = create_many(api, [{"originalUrl": URL}])
    assert key_client(stranger.api_key).get(f"/api/urls/{result['url']['_id']}").status_code == 404
