"""Visits from ignored networks and browsers are recorded, but count nowhere."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.history import list_changes
from accounts.models import Workspace
from accounts.services import NewAccount
from analytics.counting.audit import differences
from analytics.journal.records import COUNTED
from analytics.models import Click, Kind, VisitorBlock
from links.models import ClickCounter
from testing.analytics.clicks import drain
from testing.analytics.journaled import AMERICAN, BRITISH, MakeLink, journaled, pk

pytestmark = pytest.mark.django_db

OFFICE = ["8.8.8.0/24", "2001:db8::/32"]
OWN = {"cookie": "a=b; ignore_my_visits=1"}


def ignore(client: APIClient, workspace: Workspace, networks: object) -> Any:
    return client.patch(f"/api/workspaces/{workspace.public_id}", {"ignoredNetworks": networks})


def report(api: APIClient, link: dict[str, Any]) -> dict[str, Any]:
    data = api.get(f"/api/analytics/{link['_id']}").json()["data"]
    return {name: data[name] for name in ("totalClicks", "uniqueClicks", "notCounted", "refused")}


def follow(visitor: Client, link: dict[str, Any], address: str = BRITISH, **headers: str) -> Any:
    return visitor.get(f"/{link['shortCode']}", REMOTE_ADDR=address, headers=headers)


def test_clicks_from_ignored_networks_count_nowhere(
    api: APIClient, strange_api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    link = make_link()
    foreign = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    journaled(pk(link), address=AMERICAN)
    drain()
    assert ignore(api, alice.workspace, OFFICE).status_code == 200
    # From now on. Crawlers and refused visits stay what they are.
    for subject in (pk(link), pk(foreign)):
        for address in (AMERICAN, "2001:db8::7", "::ffff:8.8.8.9", BRITISH):
            journaled(subject, address=address)
    for kind in (Kind.CRAWLER, Kind.REFUSED):
        journaled(pk(link), address=AMERICAN, kind=kind, reason="country" if kind == Kind.REFUSED else "")
    assert drain() == 10

    found = report(api, link)
    assert (found["totalClicks"], found["uniqueClicks"]) == (2, 2)
    assert found["notCounted"] == {"crawler": 1, "prefetch": 0, "head": 0, "ignored": 3}
    assert found["refused"]["country"] == 1
    assert report(strange_api, foreign)["totalClicks"] == 4
    # Never silently missing: the log has them.
    log = api.get(f"/api/analytics/{link['_id']}/clicks?kind=ignored").json()["data"]["clicks"]
    assert [click["kind"] for click in log] == ["ignored"] * 3
    assert ClickCounter.objects.get(link_id=pk(link)).clicks == 2
    assert VisitorBlock.objects.filter(link_id=pk(link)).count() == 1
    assert list(differences()) == []

    ignore(api, alice.workspace, [])
    journaled(pk(link), address=AMERICAN)
    drain()
    assert report(api, link)["totalClicks"] == 3


def test_visits_of_a_browser_that_asks_for_it_count_nowhere(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    plain, refused = make_link(), make_link(restrictions={"allowedCountries": ["FR"]})
    for link in (plain, refused):
        assert follow(visitor, link, **OWN).status_code == (302 if link is plain else 403)
        follow(visitor, link)
    assert drain() == 4
    found = report(api, plain)
    assert (found["totalClicks"], found["notCounted"]["ignored"]) == (1, 1)
    # A refusal is shown as such: its reason matters, whoever meets it.
    assert (report(api, refused)["refused"]["country"], report(api, refused)["totalClicks"]) == (2, 0)
    assert list(differences()) == []


def test_an_ignored_visit_takes_one_of_the_clicks_of_a_limited_link(
    visitor: Client, api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    link = make_link(restrictions={"maxClicks": 3})
    ignore(api, alice.workspace, OFFICE)
    assert follow(visitor, link, **OWN).status_code == 302
    assert follow(visitor, link, AMERICAN).status_code == 302
    # The claims wait to be counted.
    assert list(differences()) == []
    drain()
    found = report(api, link)
    assert (found["totalClicks"], found["notCounted"]["ignored"]) == (0, 2)
    assert ClickCounter.objects.get(link_id=pk(link)).clicks == 2
    assert list(differences()) == []
    assert [follow(visitor, link).status_code for _ in range(2)] == [302, 410]
    drain()
    assert report(api, link)["totalClicks"] == 1
    assert list(differences()) == []
    # A claim of a link that is deleted before it is counted leaves nothing.
    journaled(10**9, address=AMERICAN, flags=COUNTED, kind=Kind.IGNORED)
    drain()
    assert not Click.objects.filter(link_id=10**9).exists()
    assert list(differences()) == []


def test_networks_are_checked_and_stored_in_one_form(
    api: APIClient, strange_api: APIClient, alice: NewAccount
) -> None:
    valid = {
        "203.0.113.7": "203.0.113.7/32",
        "203.0.113.0/24": "203.0.113.0/24",
        "10.0.0.0/8": "10.0.0.0/8",
        "198.51.0.0/255.255.0.0": "198.51.0.0/16",
        "2001:DB8:0::/32": "2001:db8::/32",
        "::1": "::1/128",
        "::ffff:198.51.100.0/120": "198.51.100.0/24",
    }
    response = ignore(api, alice.workspace, [*valid, "203.0.113.7/32"])
    assert response.json()["data"]["workspace"]["ignoredNetworks"] == list(valid.values())
    path = f"/api/workspaces/{alice.workspace.public_id}"
    whole = api.get(path).json()["data"]["workspace"]
    assert api.patch(path, whole).json()["data"]["workspace"]["ignoredNetworks"] == list(valid.values())
    newest = list_changes(alice.workspace, limit=1).changes[0]
    assert (newest.action, newest.actor) == ("workspace.updated", alice.user)
    assert (newest.before, newest.after["ignoredNetworks"]) == ({"ignoredNetworks": []}, list(valid.values()))
    for wrong, code in (
        ("office", "network"),
        ("203.0.113.0/33", "network"),
        ("203.0.113.7/24", "host_bits"),
        ("2001:db8::1/32", "host_bits"),
        ("fe80::1%eth0", "network"),
        ("", "blank"),
        (7, "invalid"),
    ):
        [error] = ignore(api, alice.workspace, [wrong]).json()["errors"]
        assert (error["field"], error["code"]) == ("ignoredNetworks.0", code)
    for whole_list in ("10.0.0.0/8", None, ["10.0.0.1"] * 21):
        assert ignore(api, alice.workspace, whole_list).status_code == 400
    assert ignore(strange_api, alice.workspace, OFFICE).status_code == 404
    assert Workspace.objects.get(pk=alice.workspace.pk).ignored_networks == list(valid.values())


def test_workspaces_without_ignored_networks_cost_a_batch_one_query(
    make_link: MakeLink, django_assert_max_num_queries: Any, api: APIClient, alice: NewAccount
) -> None:
    link = pk(make_link())
    journaled(link)
    drain()
    numbers = []
    # The first batch is the first one with this visitor.
    for networks in ([], [], OFFICE):
        ignore(api, alice.workspace, networks)
        for _ in range(3):
            journaled(link, address="203.0.113.9")
        with django_assert_max_num_queries(40) as queries:
            drain()
        numbers.append(len(queries))
    # An address of no network needs no further one.
    assert numbers[1] == numbers[2]
