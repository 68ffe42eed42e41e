from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain
from links import bans, drafts, rules
from links.bulk import create_links, store_drafts
from links.models import Code, Link
from tests.conftest import key_client
from tests.links.many import UNKNOWN_ID, URL, create_many
from tests.links.test_create import broken_rules, everything_written
from tests.links.threads import at_once


def test_a_result_is_what_the_single_call_answers(api: APIClient) -> None:
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
    made = create_many(api, [{"originalUrl": f"{URL}/{n}", "customCode": f"bulk{n}"} for n in range(3)])
    for n, result in enumerate(made):
        for code in (f"bulk{n}", result["url"]["shortCode"]):
            assert visitor.get(f"/{code}")["Location"] == f"{URL}/{n}"
    listed = api.get("/api/urls?search=page/1").json()["data"]
    assert [url["_id"] for url in listed["urls"]] == [made[1]["url"]["_id"]]
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
def test_what_the_single_call_refuses_is_refused_alike(api: APIClient, stranger: NewAccount) -> None:
    Domain.objects.create(owner=stranger.user, domain="hers.example", host="hers.example", status="active")
    theirs = Domain.objects.get()
    bans.ban_host(host="banned.example")
    api.post("/api/urls", {"originalUrl": URL, "customCode": "taken"})
    refused = [*REFUSED, {"originalUrl": URL, "domainId": str(theirs.public_id)}]
    good = {"originalUrl": URL}
    before = Link.objects.count()
    found = create_many(api, [each for body in refused for each in (body, good)])
    for place, body in enumerate(refused):
        alone = api.post("/api/urls", body)
        assert found[2 * place] == {"index": 2 * place, "status": alone.status_code, **alone.json()}
        assert found[2 * place]["success"] is False
        assert found[2 * place + 1]["success"] is True
    assert Link.objects.count() == before + len(refused)
    assert Code.objects.count() == Link.objects.count() + 1


def test_of_those_who_want_the_same_code_the_first_gets_it(api: APIClient) -> None:
    found = create_many(api, [{"originalUrl": f"{URL}/{n}", "customCode": "same"} for n in range(3)])
    assert [each["status"] for each in found] == [201, 409, 409]
    assert Link.objects.get().original_url == f"{URL}/0"
    # The case of letters tells codes apart.
    assert create_many(api, [{"originalUrl": URL, "customCode": "SAME"}])[0]["success"] is True


def test_a_code_on_a_domain_is_not_the_same_on_another(api: APIClient, brand: Domain) -> None:
    domains = ("base", str(brand.public_id))
    both = [{"originalUrl": URL, "customCode": "same", "domainId": domain} for domain in domains]
    assert [each["status"] for each in create_many(api, both)] == [201, 201]
    assert [each["status"] for each in create_many(api, both)] == [409, 409]


def test_a_held_code_is_taken_up_by_its_former_owner_alone(api: APIClient, strange_api: APIClient) -> None:
    link = api.post("/api/urls", {"originalUrl": URL, "customCode": "held"}).json()["data"]["url"]
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    assert [
        each["code"] for each in create_many(strange_api, [{"originalUrl": URL, "customCode": "held"}])
    ] == ["code_taken"]
    assert create_many(api, [{"originalUrl": URL, "customCode": "held"}])[0]["success"] is True


def test_a_drawn_code_that_is_taken_is_drawn_again(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = iter(["Aaaaaaa", "Bbbbbbb", "Bbbbbbb", "Bbbbbbb", "custom1", "Ccccccc"])
    monkeypatch.setattr(drafts, "generate_code", lambda: next(draws))
    api.post("/api/urls/bulk", {"urls": [{"originalUrl": URL}, {"originalUrl": URL}]})
    found = create_many(api, [{"originalUrl": URL, "customCode": "custom1"}])
    assert found[0]["url"]["shortCode"] == "Ccccccc"
    assert sorted(Link.objects.values_list("short_code", flat=True)) == ["Aaaaaaa", "Bbbbbbb", "Ccccccc"]


def test_a_thousand_take_as_many_statements_as_one(api: APIClient) -> None:
    def statements(count: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            found = create_many(
                api, [{"originalUrl": URL, "customCode": f"x{count}n{n}"} for n in range(count)]
            )
        assert all(each["success"] for each in found)
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
        ({"urls": [{"originalUrl": URL}, "x", None]}, [("urls.1", "invalid"), ("urls.2", "null")]),
    ],
)
def test_what_is_no_list_of_objects_is_refused_as_a_whole(
    api: APIClient, body: dict[str, Any], rules: list[tuple[str, str]]
) -> None:
    before = everything_written()
    response = api.post("/api/urls/bulk", body)
    assert response.status_code == 400
    assert broken_rules(response) == rules
    assert everything_written() == before


def test_so_many_passwords_are_set_in_one_call(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_PASSWORDS", 1)
    passwords: list[dict[str, str]] = [{"password": "open"}, {"password": "sesame"}, {}]
    found = create_many(api, [{"originalUrl": URL, **each} for each in passwords])
    assert [each["status"] for each in found] == [201, 400, 201]
    assert found[1]["errors"] == [
        {"field": "password", "code": "too_many", "message": "At most 1 passwords are set in one call."}
    ]


def test_four_million_bytes_are_read(api: APIClient) -> None:
    text = "x" * 4000
    most = {"urls": [{"originalUrl": URL, "title": text}] * 1000}
    found = create_many(api, most["urls"])
    assert {each["status"] for each in found} == {400}


@pytest.mark.django_db(transaction=True)
def test_a_domain_that_is_gone_meanwhile_is_not_found(alice: NewAccount, brand: Domain) -> None:
    items = [{"original_url": URL, "domain_id": str(brand.public_id)}, {"original_url": URL}]
    drafting = drafts.Drafting(alice.user)
    made = [drafting.draft(item) for item in items]
    Domain.objects.all().delete()
    outcomes = store_drafts(alice.user, made)
    assert [getattr(each, "status", 201) for each in outcomes] == [404, 201]


@pytest.mark.django_db(transaction=True)
def test_calls_that_want_the_same_codes_share_them_out(alice: NewAccount, stranger: NewAccount) -> None:
    wanted = [{"original_url": URL, "custom_code": f"race{n}"} for n in range(200)]

    def create(user: User, items: list[dict[str, Any]]) -> list[Any]:
        return create_links(owner=user, items=items)

    found = at_once(
        [
            partial(create, user, items)
            for user in (alice.user, stranger.user)
            for items in (wanted, wanted[::-1])
        ]
    )
    won = [each for outcomes in found for each in outcomes if isinstance(each, Link)]
    assert sorted(link.custom_code or "" for link in won) == sorted(f"race{n}" for n in range(200))
    assert Link.objects.count() == 200
    assert Code.objects.count() == 400


def test_a_token_creates_as_a_key_does(bearer: APIClient, make_link: Callable[..., Any]) -> None:
    assert create_many(bearer, [{"originalUrl": URL}])[0]["success"] is True


def test_links_belong_to_the_caller(stranger: NewAccount, api: APIClient) -> None:
    [result] = create_many(api, [{"originalUrl": URL}])
    assert key_client(stranger.api_key).get(f"/api/urls/{result['url']['_id']}").status_code == 404
