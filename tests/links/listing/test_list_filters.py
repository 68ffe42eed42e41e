"""The filters of the list of links."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.models import Link
from testing.links.calls import put
from testing.refusals import broken_rules
from tests.links.listing.listed import listed, listed_titles, stock

MakeLink = Callable[..., dict[str, Any]]


@pytest.fixture
def haystack(make_link: MakeLink) -> dict[str, str]:
    """Links by title, in the order of their creation; the values are their short codes."""
    links = [
        make_link(
            "https://example.com/path_one", title="Spring Sale 100%", description="needle", tags=["needle"]
        ),
        make_link("http://B\u00fccher.example/Stra\u00dfe", title="under_score"),
        make_link("https://example.org/", title="back\\slash", customCode="CamelCode"),
        make_link("HTTPS://Example.NET:443/a/../q?x=\u00c4PFEL", title="O'Hara \u00c5ngstr\u00f6m"),
    ]
    return {link["title"]: link["shortCode"] for link in links}


SALE, UNDER, BACK, HARA = "Spring Sale 100%", "under_score", "back\\slash", "O'Hara \u00c5ngstr\u00f6m"


def test_a_search_finds_part_of_a_title_an_address_or_a_code_in_any_case(
    api: APIClient, haystack: dict[str, str]
) -> None:
    expected = {
        "spring": [SALE],
        "SPRING SALE": [SALE],
        "g s": [SALE],
        "100%": [SALE],
        "%": [SALE, UNDER, HARA],  # percent-encoded addresses hold one too
        "%%": [],
        "_": [SALE, UNDER],
        "path_one": [SALE],
        "pathXone": [],
        "spring%100": [],
        "s_ring": [],
        "\\": [BACK],
        "\\\\": [],
        "\\%": [],
        "\\_": [],
        "k\\s": [BACK],
        "o'h": [HARA],
        "\u00e5NGSTR\u00d6M": [HARA],
        "b\u00fccher": [UNDER],
        "B\u00dcCHER": [UNDER],
        "xn--bcher-kva": [UNDER],
        "XN--BCHER": [UNDER],
        "stra\u00dfe": [UNDER],
        "stra%c3%9fe": [UNDER],
        "\u00e4pfel": [HARA],
        "q?x=%c3%84pfel": [HARA],
        "example.net:443/a/../": [HARA],
        "example.net/q": [HARA],
        "https://": [SALE, BACK, HARA],
        "camelcode": [BACK],
        "CAMELC": [BACK],
        "example.com": [SALE],
        "needle": [],
        "": [SALE, UNDER, BACK, HARA],
        "' OR '1'='1": [],
        "'; DROP TABLE links_link; --": [],
        "%(owner)s": [],
        "%s": [],
        ".*": [],
        "[a-z]": [],
        "\N{GRINNING FACE}": [],
    }
    assert {term: listed_titles(api, search=term, sortOrder="asc") for term in expected} == expected


def test_a_search_finds_each_short_code_in_any_case(api: APIClient, haystack: dict[str, str]) -> None:
    for title, code in haystack.items():
        for term in (code, code.lower(), code.upper(), code[1:6]):
            assert title in listed_titles(api, search=term)


def test_a_search_finds_the_new_values_of_a_changed_link(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="before", customCode="before1")
    api.put(f"/api/urls/{link['_id']}", {"title": "after", "customCode": "after1"})
    assert listed_titles(api, search="after") == ["after"]
    assert listed_titles(api, search="before") == []


def test_a_search_finds_a_link_by_where_it_leads_now_and_by_where_it_led(
    api: APIClient, make_link: MakeLink
) -> None:
    moved = make_link("https://example.com/before", title="moved")
    make_link("https://example.com/other", title="other")
    put(api, moved, targetUrl="https://example.com/After?x=Ü")
    for term in ("/after", "https://example.com/After?x=Ü", "x=%c3%9c", "/before"):
        assert listed_titles(api, search=term) == ["moved"]
    put(api, moved, targetUrl=None)
    assert listed_titles(api, search="/after") == []


def test_a_search_term_is_at_most_as_long_as_a_short_url(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="x" * 200)
    make_link(title="%" * 200)
    make_link(f"https://example.com/{'y' * 600}", title="y")
    assert listed_titles(api, search="x" * 200) == ["x" * 200]
    assert listed_titles(api, search="%" * 200) == ["%" * 200]
    assert listed_titles(api, search="y" * 518) == ["y"]
    assert listed_titles(api, search="\N{GRINNING FACE}" * 518) == []
    for term in ("x" * 519, "\N{GRINNING FACE}" * 519, "%" * 5000):
        assert broken_rules(api.get("/api/urls", {"search": term})) == [("search", "max_length")]


@pytest.mark.parametrize("name", ["search", "tags"])
def test_nul_in_a_filter_is_rejected(api: APIClient, name: str) -> None:
    for text in ("\0", "a\0b", "\0" * 200):
        assert [field for field, _ in broken_rules(api.get("/api/urls", {name: text}))] == [name]


def test_invalid_utf8_causes_no_error(api: APIClient, make_link: MakeLink) -> None:
    make_link()
    for query in (
        "search=%FF%FE",
        "tags=%C3",
        "search=%ED%A0%80",
        "isActive=%FF",
        "%FF=1",
        "search=%",
        "&&=&",
    ):
        assert api.get(f"/api/urls?{query}").status_code in (200, 400)


def test_the_tag_filter_finds_any_of_its_tags_in_any_case(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="1", tags=["News", "\u00c4pfel"])
    make_link(title="2", tags=["news & more", "STRASSE"])
    make_link(title="3", tags=["other", " padded "])
    make_link(title="4")
    everything = ["1", "2", "3", "4"]
    expected = {
        "news": ["1"],
        "NEWS": ["1"],
        "new": [],
        "news,other": ["1", "3"],
        "other,news,missing": ["1", "3"],
        " news , other ": ["1", "3"],
        ",news,,": ["1"],
        "\u00e4PFEL": ["1"],
        "stra\u00dfe": ["2"],
        "news & more": ["2"],
        "padded": ["3"],
        "missing": [],
        "%": [],
        "_ews": [],
        "{news}": [],
        "'; --": [],
        "": everything,
        ",": everything,
        " , ,": everything,
    }
    assert {tags: listed_titles(api, tags=tags, sortOrder="asc") for tags in expected} == expected


def test_the_tag_filter_takes_fifty_tags_of_fifty_characters(api: APIClient, make_link: MakeLink) -> None:
    tags = [f"{number:02}" + "x" * 48 for number in range(50)]
    make_link(title="all", tags=tags)
    make_link(title="last", tags=[tags[-1]])
    assert listed_titles(api, tags=",".join(tags)) == ["last", "all"]
    assert broken_rules(api.get("/api/urls", {"tags": "x" * 2551})) == [("tags", "max_length")]


def test_an_invalid_tag_in_a_filter_is_rejected(api: APIClient, make_link: MakeLink) -> None:
    # Decomposed letters, as in macOS file names, and surrounding whitespace, which does not count.
    longest = "e\u0301" * 50
    make_link(title="longest", tags=["\u00e9" * 50])
    make_link(title="decomposed", tags=[longest])
    assert listed_titles(api, tags=f"no,  {longest}  ") == ["decomposed"]
    # The index accepts no word of more than 2,046 bytes.
    for tag in ("x" * 51, "x" * 2550, "a," + "\U0001f600" * 51):
        assert broken_rules(api.get("/api/urls", {"tags": tag})) == [("tags", "tag")]


def test_the_tag_filter_finds_the_new_tags_of_a_changed_link(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="t", tags=["before"])
    api.put(f"/api/urls/{link['_id']}", {"tags": ["after"]})
    assert (listed_titles(api, tags="after"), listed_titles(api, tags="before")) == (["t"], [])


def test_the_activity_filter(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="on")
    off = make_link(title="off")
    make_link(title="expired", expiresAt="2001-01-01")
    api.put(f"/api/urls/{off['_id']}", {"isActive": False})
    for text in ("true", "True", "TRUE"):
        assert listed_titles(api, isActive=text) == ["expired", "on"]
    for text in ("false", "False", "FALSE"):
        assert listed_titles(api, isActive=text) == ["off"]
    for text in ("1", "0", "yes", "no", "on", "off", "t", "f", "", " ", " true", "null", "\uff54rue", "\0"):
        assert broken_rules(api.get("/api/urls", {"isActive": text})) == [("isActive", "invalid")], text


def test_filters_are_combined(api: APIClient, make_link: MakeLink) -> None:
    for number, (title, tags) in enumerate(
        [("sale", ["a"]), ("sale", ["b"]), ("other", ["a"]), ("sale", ["a", "c"])]
    ):
        make_link(f"https://example.com/{number}", title=f"{title} {number}", tags=tags)
    last = listed(api, search="sale 3")["urls"][0]
    api.put(f"/api/urls/{last['_id']}", {"isActive": False})
    assert listed_titles(api, search="sale", tags="a") == ["sale 3", "sale 0"]
    assert listed_titles(api, search="sale", tags="a", isActive="true") == ["sale 0"]
    assert listed_titles(api, search="sale", isActive="false") == ["sale 3"]
    assert listed_titles(api, tags="a,b", isActive="true", sortBy="title", sortOrder="asc") == [
        "other 2",
        "sale 0",
        "sale 1",
    ]
    assert listed_titles(api, search="sale", tags="c", isActive="true") == []
    data = listed(api, search="sale", tags="a,b", sortBy="clickCount", sortOrder="asc", page=2, limit=2)
    assert [url["title"] for url in data["urls"]] == ["sale 3"]
    assert data["pagination"] == {"page": 2, "limit": 2, "total": 3, "pages": 2}


def test_unknown_parameters_are_ignored(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="mine")
    for name in (
        "owner", "_connector", "_negated", "title__icontains", "id__in", "password__startswith", "format", "order",
        "offset", "q", "api_key", "X-API-Key", "page[size]", "", "\0", "'", "__proto__",
    ):  # fmt: skip
        for value in ("", "OR", "1", "\0", "' OR 1=1 --"):
            assert listed_titles(api, **{name: value}) == ["mine"]


def test_the_last_of_repeated_parameters_counts(api: APIClient, alice: NewAccount) -> None:
    stock(alice.user, 5)
    assert len(api.get("/api/urls?limit=1&limit=3").json()["data"]["urls"]) == 3
    assert len(api.get("/api/urls?limit=x&limit=3").json()["data"]["urls"]) == 3
    assert broken_rules(api.get("/api/urls?limit=3&limit=x")) == [("limit", "invalid")]


def test_links_are_found_by_the_days_within_which_they_expire(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    now = datetime.now(UTC)

    def expiry(hours: float) -> str:
        return (now + timedelta(hours=hours)).isoformat()

    for name, fields in {
        "soon": {"expiresAt": expiry(23), "tags": ["news"]},
        "later": {"expiresAt": expiry(25), "isActive": False},
        "much later": {"expiresAt": expiry(24 * 30), "tags": ["news"]},
        "never": {},
        "over": {"expiresAt": expiry(1)},
    }.items():
        make_link(title=name, **fields)
    Link.objects.filter(title="over").update(expires_at=now - timedelta(seconds=1))
    strange_api.post("/api/urls", {"originalUrl": "https://example.com/", "expiresAt": expiry(2)})

    def found(**query: str) -> list[str]:
        page = listed(api, sortBy="title", sortOrder="asc", **query)
        assert page["pagination"]["total"] == len(page["urls"])
        return [url["title"] for url in page["urls"]]

    assert found(expiresWithin="1") == ["soon"]
    assert found(expiresWithin="2") == ["later", "soon"]
    assert found(expiresWithin="31", tags="news") == ["much later", "soon"]
    assert found(expiresWithin="31", status="active", search="so") == ["soon"]
    assert found(expiresWithin="2", status="disabled,banned") == ["later"]
    exported = b"".join(api.get("/api/urls/export?expiresWithin=1").streaming_content)
    assert (b"soon" in exported, b"later" in exported) == (True, False)
    for value in ("0", "soon", "36501"):
        response = api.get(f"/api/urls?expiresWithin={value}")
        assert (response.status_code, response.json()["errors"][0]["field"]) == (400, "expiresWithin")


def test_the_total_of_a_tag_and_a_status_counts_both(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of more hits than a page finds at once."""
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 1)
    for number in range(5):
        make_link(tags=["news"], isActive=number > 1)
    page = listed(api, tags="news", status="active", limit="1")
    assert page["pagination"]["total"] == 3
