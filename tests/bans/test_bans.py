"""A ban of a host or an account blocks redirects. Lifting it restores the previous state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from bans import services as bans
from bans.models import Ban
from domains.models import Domain
from links.models import Link
from testing.links.many import create_many
from testing.polling import DEADLINE
from testing.redirects.following import follow as follow
from testing.refusals import broken_rules

pytestmark = pytest.mark.django_db(transaction=True)

MakeLink = Callable[..., dict[str, Any]]


BANNED = (410, "disabled")
FOLLOWED = (302, None)


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "http://evil.example/login?next=/",
        "https://EVIL.example:8443/a",
        "https://evil.example./a",
        "https://www.evil.example/",
        "https://a.b.c.evil.example/",
    ],
)
def test_a_host_ban_includes_subdomains(
    api: APIClient, make_link: MakeLink, follow: Callable[..., object], address: str
) -> None:
    link = make_link(address)
    assert follow(link) == FOLLOWED
    ban = bans.ban_host(host="evil.example")
    assert follow(link) == BANNED
    assert broken_rules(api.post("/api/urls", {"originalUrl": address})) == [("originalUrl", "banned")]
    assert Link.objects.count() == 1
    bans.lift_ban(ban=ban)
    assert follow(link) == FOLLOWED
    assert api.post("/api/urls", {"originalUrl": address}).status_code == 201


@pytest.mark.parametrize(
    "address", ["http://192.0.2.7/", "http://[::ffff:192.0.2.7]/", "https://[::FFFF:C000:0207]:8443/a"]
)
def test_a_ban_of_an_ipv4_address_includes_its_ipv6_form(
    api: APIClient, make_link: MakeLink, follow: Callable[..., object], address: str
) -> None:
    link, other = make_link(address), make_link("http://[::ffff:192.0.2.8]/")
    ban = bans.ban_host(host="192.0.2.7")
    assert [follow(link), follow(other)] == [BANNED, FOLLOWED]
    assert broken_rules(api.post("/api/urls", {"originalUrl": address})) == [("originalUrl", "banned")]
    bans.lift_ban(ban=ban)
    assert follow(link) == FOLLOWED


@pytest.mark.parametrize(
    "address",
    [
        "https://notevil.example/",
        "https://evil.example.com/",
        "https://example/",
        "https://good.example/evil.example",
        "https://good.example/?to=https://evil.example/",
        "https://good.example/#evil.example",
    ],
)
def test_a_host_ban_affects_no_other_host(
    make_link: MakeLink, follow: Callable[..., object], address: str
) -> None:
    bans.ban_host(host="evil.example")
    assert follow(make_link(address)) == FOLLOWED


def test_a_repeated_ban_is_stored_once(db: None) -> None:
    first = bans.ban_host(host="evil.example", reason="Phishing.")
    assert bans.ban_host(host="EVIL.example") == first
    assert Ban.objects.get().reason == "Phishing."


@pytest.mark.slow
def test_a_thousand_links_are_banned_by_one_row(
    api: APIClient, alice: NewAccount, make_link: MakeLink, visitor: Client
) -> None:
    make_link("https://other.example/")
    urls = [{"originalUrl": f"https://n{number}.evil.example/"} for number in range(1000)]
    links = [result["url"] for result in create_many(api, urls)]
    before = Link.objects.order_by("pk").values_list()
    rows = list(before)
    ban = bans.ban_host(host="evil.example")
    assert {visitor.get(f"/{link['shortCode']}").status_code for link in links} == {410}
    assert list(before.all()) == rows
    bans.lift_ban(ban=ban)
    assert {visitor.get(f"/{link['shortCode']}").status_code for link in links} == {302}


def test_an_account_ban_affects_only_its_links(
    alice: NewAccount,
    make_link: MakeLink,
    strange_api: APIClient,
    follow: Callable[..., object],
) -> None:
    old = make_link()
    strange = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    ban = bans.ban_account(owner=alice.workspace)
    assert [follow(link) for link in (old, make_link(), strange)] == [BANNED, BANNED, FOLLOWED]
    bans.lift_ban(ban=ban)
    assert follow(old) == FOLLOWED


def test_a_link_with_a_limit_is_not_followed_either(
    make_link: MakeLink, follow: Callable[..., object]
) -> None:
    link = make_link("https://evil.example/", restrictions={"maxClicks": 5})
    assert follow(link) == FOLLOWED
    bans.ban_host(host="evil.example")
    assert follow(link) == BANNED
    assert Link.objects.get().counter.clicks == 1


@pytest.fixture
def domain_with_urls(alice: NewAccount) -> Domain:
    """A domain with all its redirect targets on one host."""
    return Domain.objects.create(
        owner=alice.workspace,
        domain="brand.example",
        host="brand.example",
        status="active",
        root_url="https://a.evil.example/",
        not_found_url="https://b.evil.example/",
        expired_url="https://c.evil.example/",
    )


def test_a_domain_does_not_redirect_to_a_banned_host(
    domain_with_urls: Domain, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link(domainId=str(domain_with_urls.public_id), expiresAt="2020-01-01T00:00:00Z")

    def statuses() -> list[int]:
        paths = ["/", "/nothing", f"/{link['shortCode']}"]
        return [visitor.get(path, headers={"host": "brand.example"}).status_code for path in paths]

    assert statuses() == [302, 302, 302]
    ban = bans.ban_host(host="evil.example")
    assert statuses() == [404, 404, 410]
    bans.lift_ban(ban=ban)
    assert statuses() == [302, 302, 302]


@pytest.mark.parametrize("name", ["rootUrl", "notFoundUrl", "expiredUrl"])
def test_domain_settings_refuse_a_banned_host(
    domain_with_urls: Domain, api: APIClient, strange_api: APIClient, name: str
) -> None:
    path, rows = f"/api/domains/{domain_with_urls.public_id}", Domain.objects.values()
    before = list(rows)
    bans.ban_host(host="evil.example")
    for address in ("https://evil.example/", "http://EVIL.example.:8080/a", "https://a.b.evil.example/#x"):
        refused = api.patch(path, {"expiredUrl": "https://good.example/", name: address})
        assert refused.status_code == 400
        assert refused.json()["errors"] == [
            {"field": name, "code": "banned", "message": "Must not point to a host that is banned here."}
        ]
        assert strange_api.patch(path, {name: address}).status_code == 404
    assert list(rows.all()) == before
    # An existing banned URL does not block changes of other settings.
    assert api.patch(path, {"notFoundUrl": "https://good.example/"}).status_code == 200


def test_a_ban_notifies_other_hosts(make_link: MakeLink) -> None:
    make_link()
    with connection.cursor() as cursor:
        cursor.execute("LISTEN destinations")
    ban = bans.ban_host(host="evil.example")
    bans.lift_ban(ban=ban)
    notifications = connection.connection.notifies(timeout=DEADLINE, stop_after=2)
    assert [notification.payload for notification in notifications] == ["*", "*"]
    with connection.cursor() as cursor:
        cursor.execute("UNLISTEN destinations")
