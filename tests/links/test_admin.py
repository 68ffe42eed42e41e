"""Links as operators find, disable and ban them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Ban, Link
from tests.admin import Operator, audit, told

MakeLink = Callable[..., dict[str, Any]]

LINKS = "links/link/"
BANS = "links/ban/"


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    return Domain.objects.create(
        owner=alice.user, domain="brand.example", host="brand.example", status="active"
    )


def codes(operator: Operator, **query: Any) -> list[str]:
    return [str(link) for link in operator.rows(LINKS, **query)]


@pytest.mark.parametrize("links", [1, 3])
def test_a_list_takes_as_many_queries_however_long_it_is(
    operator: Operator, make_link: MakeLink, domain: Domain, links: int
) -> None:
    for _ in range(links):
        make_link(domainId=str(domain.public_id))
    link = Link.objects.order_by("pk")[0]
    searches = [str(link.public_id), link.short_code, "alice@example.com", "example.com/page"]
    # Session and operator; how many there are, and the page.
    assert operator.queries(LINKS) == 4
    assert operator.queries(f"{LINKS}{link.pk}/change/") == 3
    assert [operator.queries(LINKS, q=search) for search in searches] == [6, 6, 6, 6]
    assert [operator.queries(LINKS, state=state) for state in ("off", "banned", "custom")] == [4, 4, 4]


@pytest.mark.parametrize("bans", [1, 3])
def test_the_list_of_bans_takes_as_many_queries_however_long_it_is(
    operator: Operator, make_link: MakeLink, bans: int
) -> None:
    for _ in range(bans):
        make_link()
    operator.act(LINKS, "ban_links", Link.objects.all())
    operator.send(f"{BANS}add/", host="evil.example", owner="", reason="")
    assert len(operator.rows(BANS)) == bans + 1
    assert operator.queries(BANS) == 4
    assert operator.queries(BANS, q="evil") == 4
    assert operator.queries(f"{BANS}add/") == 2


def test_links_are_found(
    operator: Operator, api: APIClient, make_link: MakeLink, strange_api: APIClient, domain: Domain
) -> None:
    summer = make_link("https://example.com/Sale?id=7", customCode="Summer", title="Everything must go")
    api.put(f"/api/urls/{summer['_id']}", {"customCode": "Winter"})
    branded = make_link("https://shop.example/", customCode="Summer2", domainId=str(domain.public_id))
    strange = strange_api.post("/api/urls", {"originalUrl": "https://bücher.example/ä"}).json()["data"]["url"]
    for search, found in {
        "": [strange["shortCode"], "Summer2", "Winter"],
        "Winter": ["Winter"],
        "Summer": ["Summer2", "Winter"],  # a former code, and part of a code
        " Summer2 ": ["Summer2"],
        summer["shortCode"]: ["Winter"],
        branded["shortCode"]: ["Summer2"],
        summer["_id"]: ["Winter"],
        "example.com/sale": ["Winter"],
        "id=7": ["Winter"],
        "EVERYTHING": ["Winter"],
        "bücher": [strange["shortCode"]],
        "xn--bcher-kva": [strange["shortCode"]],
        "Mallory@example.com": [strange["shortCode"]],
        "alice@example.com": ["Summer2", "Winter"],
        "nobody@example.com": [],
        "quokka": [],
        "%": [],
        "'": [],
        "\\": [],
        "a' OR 1=1 --": [],
        "x" * 5000: [],
    }.items():
        assert codes(operator, q=search) == found, search


def test_links_are_filtered(operator: Operator, api: APIClient, make_link: MakeLink, domain: Domain) -> None:
    off, banned, branded = make_link(), make_link(), make_link(domainId=str(domain.public_id))
    api.put(f"/api/urls/{off['_id']}", {"isActive": False})
    operator.act(LINKS, "ban_links", Link.objects.filter(short_code=banned["shortCode"]))
    for state, link in {"off": off, "banned": banned, "custom": branded}.items():
        assert codes(operator, state=state) == [link["shortCode"]]
    assert len(codes(operator, state="nonsense")) == 3


@pytest.mark.parametrize("lookup", ["password__startswith", "description", "owner__password__startswith"])
def test_nothing_else_of_a_link_can_be_guessed_at(operator: Operator, lookup: str) -> None:
    assert operator.get("/admin/links/link/", {lookup: "a"}).status_code == 400


@pytest.mark.django_db(transaction=True)
def test_an_operator_disables_a_link_and_its_owner_cannot_enable_it(
    operator: Operator, api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    links = [make_link() for _ in range(3)]

    def statuses() -> list[int]:
        return [visitor.get(f"/{link['shortCode']}").status_code for link in links]

    chosen = Link.objects.filter(short_code__in=[link["shortCode"] for link in links[:2]]).order_by("pk")
    assert told(operator.act(LINKS, "ban_links", chosen)) == [
        "Not followed any more, at once and everywhere."
    ]
    assert statuses() == [410, 410, 302]
    assert [link.banned for link in operator.rows(LINKS)] == [False, True, True]
    assert api.put(f"/api/urls/{links[0]['_id']}", {"isActive": True}).status_code == 200
    assert statuses() == [410, 410, 302]
    operator.act(LINKS, "lift_bans", chosen)
    assert statuses() == [302, 302, 302]
    who = "operator@example.com"
    assert sorted(audit()) == sorted(
        (who, str(link), done) for link in chosen for done in ("Banned.", "Ban lifted.")
    )


@pytest.mark.django_db(transaction=True)
def test_a_link_is_disabled_on_its_own_page_too(
    operator: Operator, make_link: MakeLink, visitor: Client
) -> None:
    code = make_link(title="Before")["shortCode"]
    page = f"{LINKS}{Link.objects.get().pk}/change/"
    assert operator.send(page, act="ban_links").status_code == 302
    assert visitor.get(f"/{code}").status_code == 410
    assert operator.send(page, act="lift_bans").status_code == 302
    assert visitor.get(f"/{code}").status_code == 302
    # What is no button of the page writes nothing.
    operator.send(page, act="delete_selected", title="After", is_active="")
    operator.send(page, title="After", is_active="")
    link = Link.objects.get()
    assert (link.title, link.is_active) == ("Before", True)


@pytest.mark.django_db(transaction=True)
def test_a_host_is_banned_with_all_its_links(
    operator: Operator, api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link("https://www.evil.example/a")
    answer = operator.act(LINKS, "ban_host", Link.objects.all())
    assert answer["Location"] == "/admin/links/ban/add/?host=www.evil.example"
    assert operator.get(answer["Location"]).context["adminform"].form["host"].value() == "www.evil.example"
    assert not Ban.objects.exists()
    saved = operator.send(f"{BANS}add/", host="https://Evil.example/x", owner="", reason="Phishing.")
    assert saved["Location"] == "/admin/links/ban/"
    ban = Ban.objects.get()
    assert (ban.host, ban.reason) == ("evil.example", "Phishing.")
    assert visitor.get(f"/{link['shortCode']}").status_code == 410
    assert api.post("/api/urls", {"originalUrl": "https://evil.example/"}).status_code == 400
    assert operator.see(f"{BANS}{ban.pk}/change/")
    operator.send(f"{BANS}{ban.pk}/delete/", post="yes")
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    who = "operator@example.com"
    assert audit() == [(who, "evil.example", "Added."), (who, "evil.example", "")]


@pytest.mark.django_db(transaction=True)
def test_an_account_is_banned_with_all_its_links_and_bans_are_lifted_together(
    operator: Operator, alice: NewAccount, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link()
    operator.send(f"{BANS}add/", host="", owner=str(alice.user.pk), reason="")
    operator.send(f"{BANS}add/", host="example.com", owner="", reason="")
    assert visitor.get(f"/{link['shortCode']}").status_code == 410
    operator.act(BANS, "delete_selected", Ban.objects.all(), post="yes")
    assert visitor.get(f"/{link['shortCode']}").status_code == 302


@pytest.mark.parametrize(
    "fields",
    [
        {"host": "", "owner": ""},
        {"host": "com", "owner": ""},
        {"host": "a b", "owner": ""},
        {"host": "a\x00b.example", "owner": ""},
        {"host": "x" * 300 + ".example", "owner": ""},
        {"host": "banned.example", "owner": ""},
        {"host": "Banned.Example", "owner": ""},
        {"host": "evil.example", "owner": "alice"},
        {"host": "", "owner": "0"},
        {"host": "", "owner": "nobody"},
        {"host": "", "owner": "9" * 30},
    ],
)
def test_a_ban_that_cannot_be_says_why(operator: Operator, alice: NewAccount, fields: dict[str, str]) -> None:
    Ban.objects.create(host="banned.example")
    owner = str(alice.user.pk) if fields["owner"] == "alice" else fields["owner"]
    answer = operator.send(f"{BANS}add/", **{**fields, "owner": owner}, reason="")
    assert (answer.status_code, len(answer.context["errors"])) == (200, 1)
    assert Ban.objects.count() == 1


def test_only_links_to_one_host_lead_to_its_ban(operator: Operator, make_link: MakeLink) -> None:
    make_link("https://a.example/")
    make_link("https://b.example/")
    assert told(operator.act(LINKS, "ban_host", Link.objects.all())) == ["Select links to one host."]


def test_everything_at_once_is_refused(operator: Operator, make_link: MakeLink) -> None:
    make_link()
    answer = operator.act(LINKS, "ban_links", Link.objects.all(), select_across="1")
    assert told(answer) == ["Choose them page by page: all at once may be too many."]
    assert not Ban.objects.exists()


def test_a_link_s_page_shows_no_password(operator: Operator, make_link: MakeLink) -> None:
    make_link(password="open sesame")
    link = Link.objects.get()
    page = operator.see(f"{LINKS}{link.pk}/change/").content.decode()
    assert "argon2" not in page
    assert str(link.password) not in page


def test_links_are_neither_added_nor_deleted_here(operator: Operator, make_link: MakeLink) -> None:
    make_link()
    pk = Link.objects.get().pk
    assert operator.get("/admin/links/link/add/").status_code == 403
    assert operator.send(f"{LINKS}{pk}/delete/", post="yes").status_code == 403
    operator.act(LINKS, "delete_selected", Link.objects.all(), post="yes")
    assert Link.objects.count() == 1
