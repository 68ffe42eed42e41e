"""What an operator bans is not followed, whatever its owner does; and lifting a ban leaves no trace of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.errors import InvalidFields
from domains.models import Domain
from links import bans
from links.models import Ban, Link
from tests.refusals import broken_rules

pytestmark = pytest.mark.django_db(transaction=True)

MakeLink = Callable[..., dict[str, Any]]


@pytest.fixture
def follow(visitor: Client) -> Callable[[dict[str, Any]], tuple[int, str | None]]:
    def status(link: dict[str, Any]) -> tuple[int, str | None]:
        answer = visitor.get(f"/{link['shortCode']}", headers={"accept": "application/json"})
        return answer.status_code, answer.json()["reason"] if answer.content else None

    return status


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
def test_a_ban_is_of_a_host_and_all_below_it(
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
def test_no_other_host_is_banned_with_it(
    make_link: MakeLink, follow: Callable[..., object], address: str
) -> None:
    bans.ban_host(host="evil.example")
    assert follow(make_link(address)) == FOLLOWED


@pytest.mark.parametrize(
    ("given", "host", "address"),
    [
        ("Evil.Example.", "evil.example", "https://evil.example/a"),
        ("https://evil.example:8080/login?a=b", "evil.example", "https://evil.example/a"),
        ("bücher.example", "xn--bcher-kva.example", "https://www.BÜCHER.example/a"),
        ("192.0.2.7", "192.0.2.7", "http://192.0.2.7/a"),
        ("192.0.2.7", "192.0.2.7", "http://0xC0000207/"),
        ("[2001:db8::1]", "[2001:db8::1]", "http://[2001:0db8:0::1]:8080/a"),
    ],
)
def test_a_host_may_be_written_as_anybody_writes_it(
    api: APIClient, given: str, host: str, address: str
) -> None:
    assert bans.ban_host(host=given).host == host
    assert broken_rules(api.post("/api/urls", {"originalUrl": address})) == [("originalUrl", "banned")]


@pytest.mark.parametrize(
    "given", ["com", "", " ", "a b.example", "ftp://evil.example", "user@evil.example", "\x00"]
)
def test_what_is_no_host_is_not_banned(db: None, given: str) -> None:
    with pytest.raises(InvalidFields):
        bans.ban_host(host=given)
    assert not Ban.objects.exists()


def test_a_ban_is_kept_once(db: None) -> None:
    first = bans.ban_host(host="evil.example", reason="Phishing.")
    assert bans.ban_host(host="EVIL.example") == first
    assert Ban.objects.get().reason == "Phishing."


def test_a_thousand_links_are_banned_by_one_row(
    api: APIClient, alice: NewAccount, make_link: MakeLink, visitor: Client
) -> None:
    make_link("https://other.example/")
    links = [make_link(f"https://n{number}.evil.example/") for number in range(1000)]
    before = Link.objects.order_by("pk").values_list()
    rows = list(before)
    ban = bans.ban_host(host="evil.example")
    assert {visitor.get(f"/{link['shortCode']}").status_code for link in links} == {410}
    assert list(before.all()) == rows
    bans.lift_ban(ban=ban)
    assert {visitor.get(f"/{link['shortCode']}").status_code for link in links} == {302}


def test_an_owner_cannot_switch_a_banned_link_on(
    api: APIClient, make_link: MakeLink, follow: Callable[..., object]
) -> None:
    link = make_link(customCode="Summer")
    ban = bans.ban_link(link=Link.objects.get())
    for active in (False, True):
        assert api.put(f"/api/urls/{link['_id']}", {"isActive": active}).status_code == 200
        assert follow(link) == BANNED
    api.put(f"/api/urls/{link['_id']}", {"isActive": False, "customCode": "Winter"})
    bans.lift_ban(ban=ban)
    assert follow(link) == BANNED  # as its owner has switched it off
    api.put(f"/api/urls/{link['_id']}", {"isActive": True})
    assert follow(link) == FOLLOWED


def test_a_banned_link_can_be_deleted_and_its_ban_goes_with_it(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    bans.ban_link(link=Link.objects.get())
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    assert not Ban.objects.exists()


def test_all_links_of_an_account_are_banned_and_nobody_else_s(
    alice: NewAccount,
    make_link: MakeLink,
    strange_api: APIClient,
    follow: Callable[..., object],
) -> None:
    old = make_link()
    strange = strange_api.post("/api/urls", {"originalUrl": "https://example.com/"}).json()["data"]["url"]
    ban = bans.ban_links_of(owner=alice.user)
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
def astray(alice: NewAccount) -> Domain:
    """A domain that sends everybody to one host."""
    return Domain.objects.create(
        owner=alice.user,
        domain="brand.example",
        host="brand.example",
        status="active",
        root_url="https://a.evil.example/",
        not_found_url="https://b.evil.example/",
        expired_url="https://c.evil.example/",
    )


def test_a_domain_sends_nobody_to_a_banned_host(astray: Domain, make_link: MakeLink, visitor: Client) -> None:
    link = make_link(domainId=str(astray.public_id), expiresAt="2020-01-01T00:00:00Z")

    def statuses() -> list[int]:
        paths = ["/", "/nothing", f"/{link['shortCode']}"]
        return [visitor.get(path, headers={"host": "brand.example"}).status_code for path in paths]

    assert statuses() == [302, 302, 302]
    ban = bans.ban_host(host="evil.example")
    assert statuses() == [404, 404, 410]
    bans.lift_ban(ban=ban)
    assert statuses() == [302, 302, 302]


@pytest.mark.parametrize("name", ["rootUrl", "notFoundUrl", "expiredUrl"])
def test_a_domain_cannot_be_told_to_send_anybody_to_a_banned_host(
    astray: Domain, api: APIClient, strange_api: APIClient, name: str
) -> None:
    path, rows = f"/api/domains/{astray.public_id}", Domain.objects.values()
    before = list(rows)
    bans.ban_host(host="evil.example")
    for address in ("https://evil.example/", "http://EVIL.example.:8080/a", "https://a.b.evil.example/#x"):
        refused = api.patch(path, {"expiredUrl": "https://good.example/", name: address})
        assert refused.status_code == 400
        assert refused.json()["errors"] == [
            {"field": name, "code": "banned", "message": "Leads to a host that is banned here."}
        ]
        assert strange_api.patch(path, {name: address}).status_code == 404
    assert list(rows.all()) == before
    # What is there already keeps nobody from changing the rest.
    assert api.patch(path, {"notFoundUrl": "https://good.example/"}).status_code == 200


def test_other_hosts_of_the_service_hear_of_a_ban(make_link: MakeLink) -> None:
    make_link()
    with connection.cursor() as cursor:
        cursor.execute("LISTEN destinations")
    ban = bans.ban_host(host="evil.example")
    bans.lift_ban(ban=ban)
    heard = connection.connection.notifies(timeout=5, stop_after=2)
    assert [notification.payload for notification in heard] == ["*", "*"]
    with connection.cursor() as cursor:
        cursor.execute("UNLISTEN destinations")
