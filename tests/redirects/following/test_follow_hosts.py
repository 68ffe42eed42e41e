"""A link works on its own host only."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from testing.redirects.following import CUSTOM_HOST, DESTINATION, custom_domain, redirect_headers
from testing.redirects.following import domain as domain

MakeLink = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    "host",
    [
        "sho.rt",
        "SHO.RT",
        "Sho.Rt",
        "sho.rt:80",
        "sho.rt:443",
        "sho.rt:8000",
        "sho.rt:",
        "sho.rt.",
        "SHO.rt.:8000",
    ],
)
def test_every_spelling_of_the_default_host_is_accepted(
    visitor: Client, make_link: MakeLink, host: str
) -> None:
    code = make_link()["shortCode"]

    assert visitor.get(f"/{code}", headers={"host": host})["Location"] == DESTINATION


@pytest.mark.parametrize(
    "host", [CUSTOM_HOST, "GO.Example.NET", "go.example.net:443", "go.example.net.", "go.example.net.:80"]
)
def test_a_link_on_a_custom_domain_redirects_there(
    visitor: Client, make_link: MakeLink, domain: Domain, host: str
) -> None:
    link = make_link(domainId=str(domain.public_id), customCode="spring")

    for code in (link["shortCode"], "spring"):
        response = visitor.get(f"/{code}", headers={"host": host})
        assert response.status_code == 302
        assert dict(response.headers) == redirect_headers(DESTINATION)


def test_no_host_falls_back_to_another(visitor: Client, make_link: MakeLink, alice: NewAccount) -> None:
    hosts = {
        "sho.rt": "base",
        "a.example.net": str(custom_domain(alice, "a.example.net").public_id),
        "b.example.net": str(custom_domain(alice, "b.example.net").public_id),
    }
    codes = {}
    for host, identifier in hosts.items():
        link = make_link(f"https://example.com/{host}", domainId=identifier, customCode=f"only{host[0]}")
        codes[host] = (link["shortCode"], f"only{host[0]}")

    for own_host, (short_code, custom_code) in codes.items():
        for host in [*hosts, "c.example.net", "example.net"]:
            expected = f"https://example.com/{own_host}" if host == own_host else None
            for code in (short_code, custom_code):
                assert visitor.get(f"/{code}", headers={"host": host}).get("Location") == expected


def test_the_same_code_is_a_different_link_on_every_host(
    visitor: Client, make_link: MakeLink, domain: Domain
) -> None:
    make_link("https://example.com/home", customCode="spring")
    make_link("https://example.com/custom", customCode="spring", domainId=str(domain.public_id))

    assert visitor.get("/spring")["Location"] == "https://example.com/home"
    assert visitor.get("/spring", headers={"host": CUSTOM_HOST})["Location"] == "https://example.com/custom"


@pytest.mark.parametrize(
    ("status", "status_code", "reason"),
    [
        (DomainStatus.ACTIVE, 302, None),
        (DomainStatus.INACTIVE, 410, "disabled"),
        (DomainStatus.PENDING, 404, "not_found"),
    ],
)
def test_links_work_only_while_their_domain_is_active(
    visitor: Client,
    make_link: MakeLink,
    domain: Domain,
    *,
    status: DomainStatus,
    status_code: int,
    reason: str | None,
) -> None:
    code = make_link(domainId=str(domain.public_id))["shortCode"]
    Domain.objects.update(status=status)

    response = visitor.get(f"/{code}", headers={"host": CUSTOM_HOST, "accept": "application/json"})

    assert response.status_code == status_code
    assert (response.json()["reason"] if reason else None) == reason


def test_other_accounts_claims_to_a_host_do_not_affect_its_links(
    visitor: Client, make_link: MakeLink, domain: Domain, stranger: NewAccount
) -> None:
    code = make_link(domainId=str(domain.public_id))["shortCode"]
    custom_domain(stranger, status=DomainStatus.PENDING)

    assert visitor.get(f"/{code}", headers={"host": CUSTOM_HOST})["Location"] == DESTINATION


FOREIGN_HOSTS = [
    "", " ", ".", "..", "-", "_", "*", ":", ":80", "@", "/", "\\", "?", "#", "'", "%s", "{}", "null", "0",
    "evil.example", "sho.rt.evil.example", "evilsho.rt", "www.sho.rt", "sho", "rt", "sho.rt.rt", "evil.example:80",
    "sho.rt@evil.example", "evil.example@sho.rt", "user:pw@sho.rt", "sho.rt, evil.example", "evil.example,sho.rt",
    "sho.rt evil.example", "sho.rt;evil.example", "evil.example#sho.rt", "evil.example?sho.rt", "evil.example/sho.rt",
    "sho.rt/evil.example", "http://sho.rt", "//sho.rt", "sho.rt:80:80", "sho.rt:evil", "sho.rt:-1", "sho.rt:+80",
    "sho.rt:80@evil.example", "sho.rt:999999", "sho.rt: 80", "sho.rt :80", " sho.rt", "sho.rt ", "\tsho.rt",
    "sho.rt..", ".sho.rt",
    "sho..rt", "sho.rt%00", "sho.rt%0d%0a", "sho%2ert", "sho.rt\x00", "sho.rt\r\nX-Evil: evil", "sho.rt\n",
    "[sho.rt]", "[::1", "::1", "[::1]", "[::1]:80", "[::ffff:127.0.0.1]", "127.0.0.1", "localhost", "0x7f.1",
    "sh\u00f8.rt", "\u0455ho.rt", "sho\u3002rt", "\uff53ho.rt", "xn--", "a" * 254, "a." * 2000,
    "'; DROP TABLE links_link--",
]  # fmt: skip


def test_every_code_on_an_unknown_host_returns_404(visitor: Client, make_link: MakeLink) -> None:
    code = make_link()["shortCode"]

    responses = {}
    for host in FOREIGN_HOSTS:
        response = visitor.get(f"/{code}", HTTP_HOST=host.encode().decode("latin-1"))
        responses[host] = (response.status_code, "Location" in response, b"evil" in response.content)

    assert responses == dict.fromkeys(FOREIGN_HOSTS, (404, False, False))


def test_a_request_without_a_host_returns_404(make_link: MakeLink) -> None:
    code = make_link()["shortCode"]

    assert Client(SERVER_NAME="sho.rt").get(f"/{code}").status_code == 404
