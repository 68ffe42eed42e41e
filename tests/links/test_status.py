"""`status`: whether visitors can follow a link now, or the first reason why not, in every list, filter and file."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.services import NewAccount
from bans.services import ban_account, ban_host
from domains.models import Domain
from links.availability import State, Status, status_of
from links.models import ClickCounter, Link
from links.operators import ban_link
from testing.accounts.fixtures import marketing as marketing
from testing.accounts.workspaces import key_client_in
from testing.links.calls import put, whole
from testing.links.many import create_many, imported, results
from testing.refusals import broken_rules
from tests.links.exports import export
from tests.links.statuses import listed

MakeLink = Callable[..., dict[str, Any]]
URL = "https://example.com/"
PAST, FUTURE = "2020-01-01T00:00:00Z", "2040-01-01T00:00:00Z"
ALL = {status.value: status.value for status in Status}


def closed_by_title(make_link: MakeLink, brand: Domain) -> dict[str, str]:
    """The statuses of links by their titles, which are equal except for two more links."""
    make_link(title="active", startsAt=PAST, expiresAt=FUTURE, restrictions={"maxClicks": 1})
    make_link(title="plain")
    make_link(title="scheduled", startsAt=FUTURE)
    make_link(title="expired", expiresAt=PAST)
    make_link(title="limit_reached", restrictions={"maxClicks": 1})
    make_link(title="disabled", isActive=False, expiresAt=PAST)
    make_link(title="domain_inactive", domainId=str(brand.public_id), expiresAt=PAST)
    ban_link(link=Link.objects.get(public_id=make_link(title="banned", isActive=False)["_id"]))
    make_link("https://a.evil.example/", title="banned by host")
    ban_host(host="evil.example")
    ClickCounter.objects.filter(link__title="limit_reached").update(clicks=1)
    Domain.objects.filter(pk=brand.pk).update(status="inactive")
    return {**ALL, "plain": "active", "banned by host": "banned"}


def test_every_answer_about_a_link_has_the_same_status(
    api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    expected = closed_by_title(make_link, brand)
    assert listed(api) == expected
    lines = map(orjson.loads, export(api, format="jsonl").splitlines())
    assert {line["title"]: line["status"] for line in lines} == expected
    ids = {link.title: str(link.public_id) for link in Link.objects.all()}
    shown = {title: whole(api, {"_id": public_id})["status"] for title, public_id in ids.items()}
    assert shown == expected
    updated = {
        title: put(api, {"_id": public_id}, description="new").json()["data"]["url"]["status"]
        for title, public_id in ids.items()
    }
    assert updated == expected
    body = {"ids": list(ids.values()), "data": {"tags": ["sale"]}}
    verdicts = results(api.post("/api/urls/bulk-update", body), "updated")
    assert {verdict["url"]["title"]: verdict["url"]["status"] for verdict in verdicts} == expected
    top = api.get("/api/urls/stats").json()["data"]["stats"]["topUrls"]
    assert {url["title"]: url["status"] for url in top} == {
        url["title"]: expected[url["title"]] for url in top
    }


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, "active"),
        ({"startsAt": FUTURE}, "scheduled"),
        ({"expiresAt": PAST}, "expired"),
        ({"isActive": False}, "disabled"),
    ],
)
def test_a_new_link_has_its_status(fields: dict[str, Any], status: str, api: APIClient) -> None:
    created = api.post("/api/urls", {"originalUrl": URL, **fields}).json()["data"]["url"]
    assert created["status"] == status
    assert create_many(api, [{"originalUrl": URL, **fields}])[0]["url"]["status"] == status


def test_every_link_of_a_banned_workspace_is_banned(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    link = make_link(isActive=False)
    ban_account(owner=alice.workspace)
    assert whole(api, link)["status"] == "banned"
    assert make_link()["status"] == "banned"
    assert create_many(api, [{"originalUrl": URL}])[0]["url"]["status"] == "banned"
    assert put(api, link, isActive=True).json()["data"]["url"]["status"] == "banned"
    assert api.get("/api/urls", {"status": "banned"}).json()["data"]["pagination"]["total"] == 3
    assert api.get("/api/urls", {"status": "active"}).json()["data"]["pagination"]["total"] == 0


@pytest.mark.parametrize("many", [False, True])
def test_a_new_destination_can_end_a_ban(many: bool, api: APIClient, make_link: MakeLink) -> None:
    link = make_link("https://evil.example/")
    ban_host(host="evil.example")
    assert whole(api, link)["status"] == "banned"
    change = {"targetUrl": "https://example.com/good"}
    if many:
        body = {"ids": [link["_id"]], "data": change}
        [verdict] = results(api.post("/api/urls/bulk-update", body), "updated")
        assert verdict["url"]["status"] == "active"
    else:
        assert put(api, link, **change).json()["data"]["url"]["status"] == "active"
    assert whole(api, link)["status"] == "active"


@pytest.mark.parametrize("number", ["few", "many", "too many that a ban may concern"])
@pytest.mark.slow
def test_lists_and_files_are_filtered(
    number: str, api: APIClient, make_link: MakeLink, brand: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    if number != "few":
        # As with more hits than a page finds at once.
        monkeypatch.setattr("links.searches.FETCH_LIMIT", 0)
        monkeypatch.setattr("links.lists._FETCHED_OF_PERIOD", 0)
    if number not in ("few", "many"):
        monkeypatch.setattr("links.searches.FEW_LINKS", 1)
    expected = closed_by_title(make_link, brand)
    for length in range(1, 4):
        for statuses in itertools.combinations(Status, length):
            query = ",".join(statuses)
            wanted = {title: status for title, status in expected.items() if status in statuses}
            assert listed(api, status=query) == wanted, query
            assert set(Link.objects.in_state(*statuses).values_list("title", flat=True)) == wanted.keys()
    for sort in ("createdAt", "title", "clickCount"):
        assert listed(api, status="banned, expired", sortBy=sort).keys() == {
            "banned",
            "banned by host",
            "expired",
        }
        assert listed(api, status="active,expired", sortBy=sort).keys() == {"active", "plain", "expired"}
    assert listed(api, status="banned,expired", search="ban").keys() == {"banned", "banned by host"}
    assert listed(api, status="disabled,expired", isActive="true") == {"expired": "expired"}
    assert listed(api, status="disabled", isActive="true") == {}
    assert listed(api, status="disabled", isActive="false").keys() == {"disabled"}
    assert listed(api, status="domain_inactive", domainId=str(brand.public_id)).keys() == {"domain_inactive"}
    assert listed(api, status="active", domainId=str(brand.public_id)) == {}
    lines = export(api, format="jsonl", status="scheduled,disabled").splitlines()
    assert [orjson.loads(line)["title"] for line in lines] == ["disabled", "scheduled"]


def test_strangers_find_none_of_them(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    closed_by_title(make_link, brand)
    assert (
        strange_api.post("/api/urls", {"originalUrl": URL, "title": "own", "isActive": False}).status_code
        == 201
    )
    assert listed(strange_api, status=",".join(Status)) == {"own": "disabled"}
    assert listed(strange_api, status="banned,expired") == {}
    assert export(strange_api, format="jsonl", status="banned") == ""


@pytest.mark.parametrize("value", ["", "nonsense", "active,", "Active", "active nonsense"])
def test_another_status_is_400_and_names_the_allowed(value: str, api: APIClient) -> None:
    for path in ("/api/urls", "/api/urls/export"):
        response = api.get(path, {"status": value})
        assert response.status_code == 400
        if value:
            assert broken_rules(response) == [("status", "status")]
            assert response.json()["errors"][0]["message"] == (
                "Must be one or several of active, scheduled, expired, limit_reached, disabled, banned,"
                " domain_inactive, separated by commas."
            )


def test_a_limited_key_filters_its_own_links(
    api: APIClient, alice: NewAccount, marketing: Workspace, make_link: MakeLink, brand: Domain
) -> None:
    closed_by_title(make_link, brand)
    there = key_client_in(marketing, alice.api_key)
    assert create_many(there, [{"originalUrl": URL, "title": "there", "isActive": False}])
    assert listed(there, status="disabled") == {"there": "disabled"}


def test_a_client_can_send_it_back(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(isActive=False)
    response = put(api, link, **whole(api, link))
    assert "warnings" not in response.json()
    assert response.json()["data"]["url"]["status"] == "disabled"
    put(api, link, status="active")
    assert whole(api, link)["status"] == "disabled"


def test_an_import_ignores_the_column(api: APIClient) -> None:
    [verdict] = imported(api, f"originalUrl,status\n{URL},banned\n")
    assert verdict["status"] == 201
    assert whole(api, verdict["url"])["status"] == "active"


def test_python_and_sql_agree_for_every_combination(db: None) -> None:
    now = timezone.now()
    past, future = now - timedelta(hours=1), now + timedelta(hours=1)
    seen = set()
    with connection.cursor() as cursor:
        for values in itertools.product(
            (True, False), (True, False), (None, "active", "pending", "inactive"), (None, past, future),
            (None, past, future), (None, 3), (2, 3),
        ):  # fmt: skip
            is_banned, is_active, domain_status, starts_at, expires_at, max_clicks, clicks = values
            cursor.execute(
                "SELECT links_status(%s, %s, %s, %s::timestamptz, %s::timestamptz, %s::integer, %s)", values
            )
            [(in_sql,)] = cursor.fetchall()
            state = State(
                "other" if is_banned else None, is_active, starts_at, expires_at, max_clicks, clicks
            )
            assert in_sql == status_of(state, now, is_served=domain_status in (None, "active")), values
            seen.add(in_sql)
    assert seen == set(Status)
