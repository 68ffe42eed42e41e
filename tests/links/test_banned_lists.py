"""Lists, counts and files by status agree with each link's own status, whatever hosts are banned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from bans.models import Ban
from bans.services import ban_account, ban_host, lift_ban
from links.availability import Status
from links.models import Link
from links.operators import ban_link
from tests.links.exports import export
from tests.links.statuses import listed

MakeLink = Callable[..., dict[str, Any]]
GOOD, EVIL = "https://good.example/", "https://evil.example/"
RULE = {
    "name": "phones",
    "url": "http://m.evil.example/",
    "conditions": [{"type": "device", "values": ["mobile"]}],
}
# Destinations by title, with the ban that reaches each.
BANNED_BY = {
    "host": (EVIL, "evil.example"),
    "subdomain": ("http://a.b.evil.example:8443/x?y#z", "evil.example"),
    "final dot": ("https://www.evil.example./", "evil.example"),
    "address": ("http://192.0.2.7:8080/", "192.0.2.7"),
    "address in IPv6": ("http://[::ffff:c000:207]/", "192.0.2.7"),
    "IPv6": ("http://[2001:db8::1]:8080/", "[2001:db8::1]"),
    "underscore": ("https://a_b.example/", "a_b.example"),
    "not the underscore": ("https://axb.example/", None),
    "longer name": ("https://notevil.example/", None),
    "domain below": ("https://evil.example.org/", None),
    "in the query": (f"{GOOD}?next={EVIL}", None),
    "evil.example": (GOOD, None),
    f"two lines\n{EVIL}": (GOOD, None),
}  # fmt: skip


STATUSES = (Status.ACTIVE, Status.DISABLED, Status.BANNED)


def check(api: APIClient, banned: set[str]) -> None:
    """Assert that exactly the links with these titles are banned, in every list, count and file."""
    statuses = listed(api)
    assert {title for title, status in statuses.items() if status == "banned"} == banned
    numbers = Counter(statuses.values())
    for query in ({}, {"search": "http"}):
        for status in STATUSES:
            wanted = {title: status.value for title, found in statuses.items() if found == status}
            for sort in ("createdAt", "title"):
                assert listed(api, status=status, sortBy=sort, **query) == wanted
            counted = api.get("/api/urls/count", {"status": status, **query}).json()["data"]
            assert counted == {"total": numbers[status]}
        groups = api.get("/api/urls/count", {"groupBy": "status", **query}).json()["data"]["groups"]
        assert {group["value"]: group["urls"] for group in groups} == numbers
    lines = export(api, format="jsonl", status="banned").splitlines()
    assert {orjson.loads(line)["title"] for line in lines} == banned


@pytest.fixture(params=["few", "more than are read at once", "more than are collected"])
def number(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many links are banned, as lists see it."""
    if request.param != "few":
        monkeypatch.setattr("links.searches.FETCH_LIMIT", 0)
        monkeypatch.setattr("links.lists._FETCHED_OF_PERIOD", 0)
    if request.param == "more than are collected":
        monkeypatch.setattr("links.banned_links.FEW_BANNED", 0)
        monkeypatch.setattr("links.banned_links._SAMPLE", 20)


@pytest.mark.usefixtures("number")
@pytest.mark.slow
def test_every_list_knows_which_links_are_banned(
    api: APIClient, strange_api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    for title, (url, _) in BANNED_BY.items():
        make_link(url, title=title)
    make_link(GOOD, title="rule", rules=[RULE])
    make_link(EVIL, title="changed", targetUrl=GOOD)
    make_link(EVIL, title="disabled, too", isActive=False)
    make_link(GOOD, title="disabled", isActive=False)
    strange_api.post("/api/urls", {"originalUrl": EVIL, "title": "a stranger's"})
    check(api, set())
    reached = {
        host: {title for title, (_, by) in BANNED_BY.items() if by == host} for _, host in BANNED_BY.values()
    }
    reached["evil.example"] |= {"rule", "disabled, too"}
    ban_host(host="no-link.example")
    check(api, set())
    bans = {host: ban_host(host=host) for host in reached if host}
    check(api, set().union(*(reached[host] for host in bans)))
    lift_ban(ban=bans.pop("evil.example"))
    single = ban_link(link=Link.objects.get(title="longer name"))
    check(api, {"longer name"}.union(*(reached[host] for host in bans)))
    single.delete()
    Ban.objects.all().delete()
    everything = {*BANNED_BY, "rule", "changed", "disabled, too", "disabled"}
    bans = [ban_host(host=host) for host in ("192.0.2.7", "2001:db8::1")]
    for host in (
        "good.example",
        "evil.example",
        "a_b.example",
        "axb.example",
        "notevil.example",
        "evil.example.org",
    ):
        ban_host(host=host)
    check(api, everything)
    Ban.objects.all().delete()
    ban_account(owner=alice.workspace)
    check(api, everything)
