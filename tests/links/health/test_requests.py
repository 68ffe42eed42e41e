"""The API: checks on request, the filter, and the checks of fallback URLs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from bans.models import Ban
from links.health.services import LIMIT
from links.models import Link, LinkHealth

MakeLink = Callable[..., dict[str, Any]]
PATH = "/api/urls/check"


def test_owners_request_checks(
    api: APIClient,
    strange_api: APIClient,
    make_link: MakeLink,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    first, second = make_link()["_id"], make_link(healthCheck="daily")["_id"]
    assert LinkHealth.objects.count() == 1
    for client, ids in (
        (strange_api, [first]),
        (api, [first, "00000000-0000-7000-8000-000000000000"]),
        (api, ["x"]),
    ):
        assert client.post(PATH, {"ids": ids}).status_code == 404
    assert not LinkHealth.objects.filter(is_requested=True).exists()
    response = api.post(PATH, {"ids": [first, second, first]})
    assert (response.status_code, response.json()["data"]) == (
        202,
        {"urls": [{"_id": first}, {"_id": second}]},
    )
    assert LinkHealth.objects.filter(is_requested=True).count() == 2
    for body in ({}, {"ids": []}, {"ids": [first] * 101}, {"ids": first}, {"ids": [1]}):
        assert api.post(PATH, body).status_code == 400, body


def test_checks_on_request_are_limited(api: APIClient, make_link: MakeLink) -> None:
    body = {"ids": [make_link()["_id"]]}
    statuses = [api.post(PATH, body).status_code for _ in range(LIMIT.attempts + 1)]
    assert statuses == [202] * LIMIT.attempts + [429]


def test_no_checks_on_request_if_outbound_is_off(
    api: APIClient, make_link: MakeLink, settings: Settings
) -> None:
    settings.OUTBOUND = False
    response = api.post(PATH, {"ids": [make_link()["_id"]]})
    assert (response.status_code, response.json()["code"]) == (409, "outbound_off")


def test_lists_show_health_and_filter_by_it(
    api: APIClient,
    strange_api: APIClient,
    make_link: MakeLink,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    links = [make_link(title=f"Link {number}")["_id"] for number in range(4)]
    dead = links[1:3]
    for link in Link.objects.filter(public_id__in=dead):
        LinkHealth.objects.create(link=link, owner_id=link.owner_id, status="dead", problem="404")
    Link.objects.filter(public_id__in=dead).update(is_dead=True)
    listed = api.get("/api/urls").json()["data"]["urls"]
    assert [url["health"]["status"] for url in listed] == ["unknown", "dead", "dead", "unknown"]
    with django_assert_num_queries(3):
        found = api.get("/api/urls", {"health": "dead"}).json()["data"]
    assert [url["_id"] for url in found["urls"]] == dead[::-1]
    assert found["pagination"]["total"] == 2
    for extra in (
        {"search": "Link 1"},
        {"search": "Link 1", "status": "active"},
        {"search": "Link 1", "sortBy": "title"},
    ):
        found = api.get("/api/urls", {"health": "dead", **extra}).json()["data"]["urls"]
        assert [url["_id"] for url in found] == [links[1]]
    assert strange_api.get("/api/urls", {"health": "dead"}).json()["data"]["urls"] == []
    assert api.get("/api/urls", {"health": "alive"}).status_code == 400


def test_fallbacks_pass_the_checks_of_every_destination(api: APIClient, make_link: MakeLink) -> None:
    Ban.objects.create(host="banned.example")
    link = make_link(fallbackUrl="https://ok.example/")["_id"]
    for url, code in (
        ("https://sho.rt/abc", "loop"),
        ("https://www.banned.example/", "banned_destination"),
        ("javascript:alert(1)", "unsupported_scheme"),
        ("https://user@ok.example/", "userinfo"),
    ):
        for response in (
            api.post("/api/urls", {"originalUrl": "https://ok.example/", "fallbackUrl": url}),
            api.put(f"/api/urls/{link}", {"fallbackUrl": url}),
        ):
            [error] = response.json()["errors"]
            assert (response.status_code, error["field"], error["code"]) == (400, "fallbackUrl", code), url
    for value in ("never", "", 1):
        response = api.put(f"/api/urls/{link}", {"healthCheck": value})
        assert (response.status_code, response.json()["errors"][0]["field"]) == (400, "healthCheck")
    Ban.objects.create(host="ok.example")
    assert api.get(f"/api/urls/{link}").json()["data"]["url"]["status"] == "banned"
