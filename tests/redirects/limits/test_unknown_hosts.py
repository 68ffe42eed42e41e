"""Requests for a host that is neither BASE_URL's nor an active domain: one page, and a warning in the log."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from redirects import refusals
from redirects.request_guard import HOSTS, unknown_hosts
from testing.pages.html import assert_json_refusal, assert_page
from testing.redirects.following import CUSTOM_HOST, custom_domain
from testing.visitors.browsers import FOREIGN_HOSTS

MakeLink = Callable[..., dict[str, Any]]

UNKNOWN = refusals.UNKNOWN_HOST
HOST = "unset.example"
# A link, its preview, the root, and paths that are no codes or belong to the service.
PATHS = [
    "/spring",
    "/spring/",
    "/spring+",
    "/",
    "/not/a/code",
    "/wp-login.php",
    "/admin/",
    "/qr/x",
    "/static/x.css",
]


@pytest.fixture(autouse=True)
def separate_file(settings: Settings, tmp_path: Path, db: None) -> Iterator[None]:
    settings.VERSIONS_FILE = tmp_path / "versions"
    unknown_hosts.cache_clear()
    yield
    unknown_hosts.cache_clear()


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The hosts of the warnings so far, in order."""

    def hosts() -> list[str]:
        named = [
            re.match(r"Requests arrive for (\S+), which", record.getMessage()) for record in caplog.records
        ]
        return [match[1] for match in named if match]

    return hosts


@pytest.mark.parametrize("path", PATHS)
def test_people_see_that_the_host_is_not_set_up(
    visitor: Client, make_link: MakeLink, warned: Callable[[], list[str]], path: str
) -> None:
    make_link(customCode="spring")

    page = visitor.get(path, headers={"host": HOST})
    json = visitor.get(path, headers={"host": HOST, "accept": "application/json"})

    assert (page.status_code, json.status_code) == (404, 404)
    assert_page(page, title="This host is not set up", message=UNKNOWN.message)
    assert_json_refusal(json, reason="not_found", message=UNKNOWN.message)
    assert warned() == [HOST]


@pytest.mark.parametrize("path", PATHS)
def test_the_page_says_nothing_about_the_installation(
    visitor: Client, make_link: MakeLink, path: str
) -> None:
    make_link(customCode="spring")

    response = visitor.get(path, headers={"host": HOST})

    text = f"{dict(response.headers)}{response.content.decode()}".lower()
    assert [word for word in ("sho.rt", "shortener", "admin", "api", HOST, "link") if word in text] == []
    assert response.cookies == {}


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_every_foreign_host_gets_the_page(visitor: Client, host: str) -> None:
    for path in ("/", "/spring", "/not/a/code"):
        assert_page(visitor.get(path, headers={"host": host}), title=UNKNOWN.title, message=UNKNOWN.message)


def test_the_warning_names_valid_hosts_only(visitor: Client, warned: Callable[[], list[str]]) -> None:
    for host in ("", "sho.rt@evil.example", "two\nlines.example", "UNSET.example:8000", "unset.example."):
        visitor.get("/", headers={"host": host})

    assert warned() == [HOST]


def test_a_host_is_warned_of_once_a_minute(visitor: Client, warned: Callable[[], list[str]]) -> None:
    with time_machine.travel("2030-01-01T12:00:00Z", tick=False) as clock:
        counts = []
        for seconds in (0, 30, 29, 1, 59, 1):
            clock.shift(seconds)
            visitor.get("/spring", headers={"host": HOST})
            counts.append(len(warned()))

    assert counts == [1, 1, 1, 2, 2, 3]


def test_invented_hosts_cannot_flood_the_log(visitor: Client, warned: Callable[[], list[str]]) -> None:
    for number in range(3 * HOSTS):
        visitor.get("/spring", headers={"host": f"{number}.example"})

    assert warned() == [f"{number}.example" for number in range(HOSTS)]


def test_the_api_stays_silent_but_the_log_warns(api: APIClient, warned: Callable[[], list[str]]) -> None:
    """A proxy that replaces the Host header makes every API call fail; the log says why."""
    response = api.get("/api/urls", headers={"host": HOST})

    assert (response.status_code, response.json()["message"]) == (404, "Not found.")
    assert warned() == [HOST]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/robots.txt", "/favicon.ico"])
@pytest.mark.parametrize("host", [HOST, "10.244.0.17:8000", "[fd00::17]:8000", ""])
def test_health_checks_work_on_every_host_without_a_warning(
    visitor: Client, warned: Callable[[], list[str]], host: str, path: str
) -> None:
    assert visitor.get(path, headers={"host": host}).status_code in (200, 204)
    assert warned() == []


@pytest.mark.parametrize("path", ["/dashboard/", "/api/docs", "/accounts/login/"])
def test_an_address_still_serves_the_pages_of_the_service(
    visitor: Client, warned: Callable[[], list[str]], path: str
) -> None:
    """Load balancers and operators use it."""
    assert visitor.get(path, headers={"host": "10.244.0.17:8000"}).status_code == 200
    assert warned() == []


def test_a_link_at_an_address_is_reported(
    visitor: Client, make_link: MakeLink, warned: Callable[[], list[str]]
) -> None:
    """A proxy that does not pass the Host header on sends the service's own address."""
    response = visitor.get(f"/{make_link()['shortCode']}", headers={"host": "127.0.0.1:8000"})

    assert_page(response, title=UNKNOWN.title, message=UNKNOWN.message)
    assert warned() == ["127.0.0.1"]


@pytest.mark.parametrize(
    ("host", "advice"),
    [
        (HOST, "If it is yours, verify it as a domain, or let the proxy pass the Host header on."),
        ("10.0.0.7", "An address cannot be verified as a domain: let the proxy pass the Host header on."),
        ("[fd00::17]", "An address cannot be verified as a domain: let the proxy pass the Host header on."),
    ],
)
def test_the_advice_for_an_address_is_not_to_verify_it(
    visitor: Client, caplog: pytest.LogCaptureFixture, host: str, advice: str
) -> None:
    visitor.get("/spring", headers={"host": host})

    assert [record.getMessage() for record in caplog.records if record.name == "redirects.request_guard"] == [
        f"Requests arrive for {host}, which is neither the host of BASE_URL nor an active domain. {advice}"
    ]


@pytest.mark.parametrize("path", ["/unknown", "/not/a/code", "/", "/admin/"])
def test_an_active_domain_is_no_unknown_host(
    visitor: Client, alice: NewAccount, warned: Callable[[], list[str]], path: str
) -> None:
    custom_domain(alice)

    response = visitor.get(path, headers={"host": CUSTOM_HOST})

    assert_page(response, title="Link not found", message=refusals.NOT_FOUND.message)
    assert warned() == []


def test_a_claimed_domain_is_unknown_until_it_is_active(
    visitor: Client, alice: NewAccount, warned: Callable[[], list[str]]
) -> None:
    custom_domain(alice, status=DomainStatus.PENDING)
    titles = []
    for status in (DomainStatus.PENDING, DomainStatus.ACTIVE):
        Domain.objects.update(status=status)
        for path in ("/", "/not/a/code"):
            response = visitor.get(path, headers={"host": CUSTOM_HOST})
            titles.append(re.findall(r"<title>(.*?)</title>", response.content.decode())[0])

    assert titles == [UNKNOWN.title] * 2 + ["Link not found"] * 2
    assert warned() == [CUSTOM_HOST]


@pytest.mark.parametrize("path", ["/", "/unknown", "/not/a/code"])
def test_a_deactivated_domain_is_unknown_but_for_its_links(
    visitor: Client, alice: NewAccount, make_link: MakeLink, warned: Callable[[], list[str]], path: str
) -> None:
    domain = custom_domain(alice)
    make_link(domainId=str(domain.public_id), customCode="spring")
    Domain.objects.update(status=DomainStatus.INACTIVE)

    page = visitor.get(path, headers={"host": CUSTOM_HOST})
    assert_page(page, title=UNKNOWN.title, message=UNKNOWN.message)
    assert warned() == [CUSTOM_HOST]
    assert visitor.get("/spring", headers={"host": CUSTOM_HOST}).status_code == 410


@pytest.mark.parametrize("path", ["/", "/not/a/code", "/admin/"])
def test_an_unknown_host_takes_one_query(
    visitor: Client, django_assert_num_queries: DjangoAssertNumQueries, path: str
) -> None:
    with django_assert_num_queries(1):
        assert visitor.get(path, headers={"host": HOST}).status_code == 404
