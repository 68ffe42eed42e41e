"""Searches for a whole short URL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from testing.links.many import imported
from tests.links.listing.listed import listed, listed_titles

MakeLink = Callable[..., dict[str, Any]]


def spellings(host: str, code: str) -> list[str]:
    """Ways to write a short URL."""
    addresses = [
        f"{name}/{code}{end}" for name in (host, host.upper(), f"{host}.") for end in ("", "/", "?qr=1")
    ]
    return [
        f"{scheme}{address}" for scheme in ("", "http://", "https://", "HTTPS://") for address in addresses
    ]


def test_a_search_finds_a_link_by_its_whole_short_url(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="sought", customCode="Spring")
    make_link(title="other", customCode="Spring2")
    for code in ("Spring", link["shortCode"]):
        for text in [*spellings("sho.rt", code), f" http://sho.rt/{code} ", f"sho.rt:443/{code}"]:
            assert listed_titles(api, search=text) == ["sought"], text


def test_a_search_finds_a_link_by_a_short_url_with_encoded_characters(
    api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    make_link(title="other", customCode="Spring")
    for domain_id in ("base", str(brand.public_id)):
        make_link(title="sought", customCode="abc", domainId=domain_id)
    imported(api, "originalUrl,title,customCode\nhttps://example.com/,inherited,a-b\n")
    for host in ("sho.rt", "go.brand.example"):
        assert listed_titles(api, search=f"https://{host}/%61b%63/") == ["sought"]
    for text in ("sho.rt/a%2Db", "sho.rt/a%2db", "https://sho.rt/%61-b"):
        assert listed_titles(api, search=text) == ["inherited"]
    for text in ("sho.rt/x%2Fabc", "sho.rt/abc%00", "sho.rt/%2561bc", "sho.rt/abc%FF"):
        assert listed_titles(api, search=text) == []


def test_a_search_finds_a_link_by_the_short_url_of_each_response(
    api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    for number, domain_id in enumerate(["base", str(brand.public_id)] * 2):
        make_link(title=str(number), domainId=domain_id, customCode=f"code{number}" if number > 1 else None)
    for item in listed(api)["urls"]:
        assert listed_titles(api, search=item["shortUrl"]) == [item["title"]]


def test_each_domain_has_its_own_link_for_a_code(
    api: APIClient, alice: NewAccount, make_link: MakeLink, brand: Domain
) -> None:
    inactive = Domain.objects.create(
        owner=alice.workspace, domain="old.example", host="old.example", status="active"
    )
    make_link(title="default", customCode="spring")
    make_link(title="brand", customCode="spring", domainId=str(brand.public_id))
    make_link(title="old", customCode="spring", domainId=str(inactive.public_id))
    Domain.objects.filter(pk=inactive.pk).update(status="inactive")
    for host, title in (("sho.rt", "default"), ("go.brand.example", "brand"), ("old.example", "old")):
        for text in spellings(host, "spring"):
            assert listed_titles(api, search=text) == [title], text


def test_an_international_host_is_found_in_both_spellings(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    host = "xn--bcher-kva.example"
    domain = Domain.objects.create(owner=alice.workspace, domain=host, host=host, status="active")
    make_link(title="sought", customCode="spring", domainId=str(domain.public_id))
    for text in (
        "xn--bcher-kva.example/spring",
        "b\u00fccher.example/spring",
        "https://B\u00dcCHER.example/spring/",
    ):
        assert listed_titles(api, search=text) == ["sought"]


def test_a_former_custom_code_still_finds_its_link(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="sought", customCode="before")
    api.put(f"/api/urls/{link['_id']}", {"customCode": "after"})
    assert listed_titles(api, search="https://sho.rt/before") == ["sought"]
    assert listed_titles(api, search="https://sho.rt/after") == ["sought"]


def test_other_addresses_find_no_link(api: APIClient, make_link: MakeLink, brand: Domain) -> None:
    make_link(title="base", customCode="spring")
    link = make_link(title="brand", customCode="summer", domainId=str(brand.public_id))
    deleted = make_link(customCode="autumn")
    api.delete(f"/api/urls/{deleted['_id']}")
    for text in (
        "sho.rt/Spring", "sho.rt/sprin", "sho.rt/springs", "sho.rt/spring/x", "sho.rt//spring", "sho.rt/x/spring",
        "xsho.rt/spring", "www.sho.rt/spring", "go.brand.example/spring", "brand.example/summer", "sho.rt/summer",
        f"sho.rt/{link['shortCode']}", "example.org/spring", "sho.rt:8080/spring", "user@sho.rt/spring",
        "ftp://sho.rt/spring", "//sho.rt/spring", "https:/sho.rt/spring", "sho.rt\\spring", "sho.rt/autumn",
        "sho.rt", "sho.rt/", "/spring", "sho.rt/%", "sho.rt/%%", "sho.rt/spr%", "sho.rt/_pring", "sho.rt/%s",
        "sho.rt/%(code)s", "sho.rt/spring%00", "sho.rt/sprin%67'", "sho.rt/' OR '1'='1", "%/spring", "_ho.rt/spring",
        "go.brand.example/%", "go.brand.example/' OR 1=1 --", "[::1]/spring", "[/spring", "\u0130/spring",
    ):  # fmt: skip
        assert listed_titles(api, search=text) == [], text


def test_a_stranger_finds_no_link_by_its_short_url(
    api: APIClient, strange_api: APIClient, stranger: NewAccount, make_link: MakeLink, brand: Domain
) -> None:
    # Any account can claim any name.
    Domain.objects.create(
        owner=stranger.workspace, domain="brand.example", host="go.brand.example", status="pending"
    )
    make_link(title="base", customCode="spring")
    make_link(title="brand", customCode="spring", domainId=str(brand.public_id))
    for host in ("sho.rt", "go.brand.example"):
        assert len(listed_titles(api, search=f"{host}/spring")) == 1
        for text in spellings(host, "spring"):
            assert listed_titles(strange_api, search=text) == []


def test_links_that_contain_the_short_url_are_found_as_well(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="successor of http://sho.rt/spring")
    make_link("https://example.com/?from=http://sho.rt/spring", title="mirror")
    make_link(title="sought", customCode="spring")
    make_link(title="sho.rt/summer")
    text = "http://sho.rt/spring"
    assert listed_titles(api, search=text) == ["sought", "mirror", "successor of http://sho.rt/spring"]
    for sort_by, order in (("title", "asc"), ("clickCount", "desc"), ("createdAt", "asc")):
        assert len(listed_titles(api, search=text, sortBy=sort_by, sortOrder=order)) == 3


def test_a_link_that_contains_its_own_short_url_is_listed_once(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="http://sho.rt/spring", customCode="spring")
    assert listed_titles(api, search="http://sho.rt/spring") == ["http://sho.rt/spring"]


def test_other_filters_narrow_a_search_for_a_short_url(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="sought", customCode="spring", tags=["sale"])
    for query, titles in (
        ({"tags": "sale"}, ["sought"]),
        ({"tags": "other"}, []),
        ({"isActive": "true"}, ["sought"]),
        ({"isActive": "false"}, []),
    ):
        assert listed_titles(api, search="sho.rt/spring", **query) == titles


@pytest.mark.parametrize("reach", [1, 10_000])
@pytest.mark.parametrize("fetch_limit", [1, 1_000])
def test_the_index_finds_the_link_of_a_short_url_too(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch, reach: int, fetch_limit: int
) -> None:
    monkeypatch.setattr("links.searches.REACH", reach)
    monkeypatch.setattr("links.searches.FETCH_LIMIT", fetch_limit)
    make_link(title="sought", customCode="spring")
    for number in range(3):
        make_link(title=f"mentions sho.rt/spring {number}")
    make_link(title="last")
    for sort_by in ("createdAt", "title", "clickCount"):
        for page, number in ((1, 3), (2, 1)):
            data = listed(api, search="sho.rt/spring", sortBy=sort_by, limit=3, page=page)
            assert len(data["urls"]) == number
            assert data["pagination"] == {"page": page, "limit": 3, "total": 4, "pages": 2}


def test_a_search_for_a_short_url_takes_one_more_query(
    api: APIClient, make_link: MakeLink, django_assert_num_queries: Any
) -> None:
    make_link(customCode="spring")
    for text, queries in (("sho.rt/spring", 4), ("sho.rt", 2), ("spring", 3), ("example.com", 3)):
        with django_assert_num_queries(queries):
            listed(api, search=text)


def test_an_export_finds_a_link_by_its_short_url(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="sought", customCode="spring")
    make_link(title="other")
    response = api.get("/api/urls/export", {"format": "jsonl", "search": "sho.rt/spring"})
    lines = b"".join(response.streaming_content).splitlines()
    assert len(lines) == 1
    assert link["_id"].encode() in lines[0]


def test_the_port_of_a_local_installation_is_part_of_its_short_urls(
    api: APIClient, make_link: MakeLink, settings: Settings
) -> None:
    make_link(title="sought", customCode="spring")
    settings.BASE_URL, settings.BASE_HOST, settings.BASE_PORT = "http://127.0.0.1:8000", "127.0.0.1", 8000
    # The host of the tests' clients, too.
    settings.BASE_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]", "sho.rt"})
    for text in ("127.0.0.1:8000/spring", "http://localhost:8000/spring/", "[::1]:8000/spring"):
        assert listed_titles(api, search=text) == ["sought"], text
    assert listed_titles(api, search="127.0.0.1:8001/spring") == []
