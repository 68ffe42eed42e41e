from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain
from testing.clicks import drain
from testing.refusals import broken_rules

ITEM_KEYS = {
    "_id",
    "originalUrl",
    "shortCode",
    "customCode",
    "shortUrl",
    "domainId",
    "title",
    "tags",
    "clickCount",
    "isActive",
    "expiresAt",
    "hasPassword",
    "redirectType",
    "createdAt",
    "updatedAt",
}
MakeLink = Callable[..., dict[str, Any]]


def listed(api: APIClient, **query: object) -> dict[str, Any]:
    response = api.get("/api/urls", query)
    assert response.status_code == 200, response.content
    body = response.json()
    assert body.keys() - {"warnings"} == {"success", "data"}
    assert body["success"] is True
    assert body["data"].keys() == {"urls", "pagination"}
    return body["data"]


def listed_titles(api: APIClient, **query: object) -> list[str | None]:
    """The titles of a list. Asserts that the total equals their number."""
    data = listed(api, **query)
    assert data["pagination"]["total"] == len(data["urls"])
    return [url["title"] for url in data["urls"]]


def total(api: APIClient, **query: object) -> int:
    return listed(api, **query)["pagination"]["total"]


def stock(owner: User, count: int) -> None:
    """Dozens of links, some with equal titles, creation dates, clicks and tags."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO links_link (public_id, owner_id, short_code, original_url, destination, title, tags,"
            " tag_keys, is_active, utm, allowed_countries, blocked_countries, allowed_devices, redirect_type,"
            " created_at)"
            " SELECT gen_random_uuid(), %(owner)s, 'stock' || n, 'https://example.com/' || n,"
            " 'https://example.com/' || n,"
            " (ARRAY[NULL, '', 'B', 'a', 'b', '\u00e4', 'B'])[n %% 7 + 1], '{}',"
            " CASE n %% 2 WHEN 0 THEN ARRAY['even'] ELSE '{}' END,"
            " n %% 3 > 0, '{}', '{}', '{}', '{}', 302,"
            " '2026-01-01T00:00Z'::timestamptz + (n * 7 %% 5) * interval '1 day'"
            " FROM generate_series(1, %(count)s) n",
            {"owner": owner.pk, "count": count},
        )
        cursor.execute(
            "INSERT INTO links_code (code, kind, link_id) SELECT short_code, 'short', id FROM links_link"
            " WHERE owner_id = %(owner)s",
            {"owner": owner.pk},
        )
        cursor.execute(
            "UPDATE links_clickcounter SET clicks = link_id * 11 %% 4 WHERE owner_id = %(owner)s",
            {"owner": owner.pk},
        )


def naive_order(owner: User, sort_by: str, sort_order: str, condition: str = "true") -> list[str]:
    """All short codes, sorted in Python."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT l.short_code, l.id, l.created_at, coalesce(l.title, ''), n.clicks FROM links_link l"
            f" JOIN links_clickcounter n ON n.link_id = l.id WHERE l.owner_id = %s AND {condition}",
            [owner.pk],
        )
        rows = cursor.fetchall()
    column = {"createdAt": 2, "title": 3, "clickCount": 4}[sort_by]
    rows.sort(key=lambda row: (row[column], row[1]), reverse=sort_order == "desc")
    return [row[0] for row in rows]


# Responses


def test_an_empty_list(api: APIClient) -> None:
    assert listed(api) == {"urls": [], "pagination": {"page": 1, "limit": 20, "total": 0, "pages": 0}}


def test_an_item_in_full(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(
        title="t",
        customCode="spring",
        password="secret",
        tags=["Sale", "e-mail"],
        expiresAt="2030-06-01",
        redirectType=301,
    )
    updated = api.put(f"/api/urls/{link['_id']}", {"title": "u"}).json()["data"]["url"]["updatedAt"]
    assert listed(api) == {
        "urls": [
            {
                "_id": link["_id"],
                "originalUrl": "https://example.com/page",
                "shortCode": link["shortCode"],
                "customCode": "spring",
                "shortUrl": "http://sho.rt/spring",
                "domainId": "base",
                "title": "u",
                "tags": ["Sale", "e-mail"],
                "clickCount": 0,
                "isActive": True,
                "expiresAt": "2030-06-01T00:00:00Z",
                "hasPassword": True,
                "redirectType": 301,
                "createdAt": link["createdAt"],
                "updatedAt": updated,
            }
        ],
        "pagination": {"page": 1, "limit": 20, "total": 1, "pages": 1},
    }


def test_an_item_on_a_domain_has_the_domain_in_its_short_url(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    domain = Domain.objects.create(
        owner=alice.workspace,
        domain="brand.example",
        subdomain="go",
        host="go.brand.example",
        status="active",
    )
    link = make_link(domainId=str(domain.public_id))
    [item] = listed(api)["urls"]
    assert item.keys() == ITEM_KEYS
    assert item["shortUrl"] == f"https://go.brand.example/{link['shortCode']}"
    assert item["domainId"] == str(domain.public_id)


def test_an_item_has_the_values_of_a_single_read(api: APIClient, make_link: MakeLink) -> None:
    links = [
        make_link(),
        make_link(customCode="spring", password="secret", tags=["a"], expiresAt="2001-01-01"),
    ]
    for item in listed(api)["urls"]:
        whole = api.get(f"/api/urls/{item['_id']}").json()["data"]["url"]
        assert item == {name: whole[name] for name in ITEM_KEYS}
    assert len(links) == 2


def test_the_newest_link_comes_first_and_a_page_has_twenty_links(api: APIClient, make_link: MakeLink) -> None:
    for number in range(21):
        make_link(title=str(number))
    data = listed(api)
    assert [url["title"] for url in data["urls"]] == [str(number) for number in range(20, 0, -1)]
    assert data["pagination"] == {"page": 1, "limit": 20, "total": 21, "pages": 2}


def test_a_token_returns_the_same_list_as_a_key(bearer: APIClient, make_link: MakeLink) -> None:
    make_link(title="mine")
    assert listed_titles(bearer) == ["mine"]


def test_a_stranger_lists_no_links(
    api: APIClient, strange_api: APIClient, make_link: MakeLink, alice: NewAccount
) -> None:
    make_link(title="secret", tags=["secret"], customCode="secret")
    make_link(title="other")
    for query in (
        {},
        {"search": "secret"},
        {"tags": "secret"},
        {"isActive": "true"},
        {"sortBy": "clickCount"},
    ):
        assert listed_titles(strange_api, **query) == []
    for key in ("owner", "owner_id", "creator", "user"):
        assert listed_titles(strange_api, **{key: str(alice.user.public_id)}) == []
        assert listed_titles(strange_api, **{key: alice.user.pk}) == []
    assert len(listed_titles(api)) == 2


@pytest.mark.django_db
def test_listing_requires_a_credential(anonymous: APIClient) -> None:
    for headers in ({}, {"x-api-key": "sl_live_" + "0" * 38}, {"authorization": "Bearer x"}):
        response = anonymous.get("/api/urls", headers=headers)
        assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")


# Pages and limits


def test_limits_within_bounds(api: APIClient, alice: NewAccount) -> None:
    stock(alice.user, 101)
    for limit, items, pages in (("1", 1, 101), ("2", 2, 51), ("99", 99, 2), ("100", 100, 2), ("0020", 20, 6)):
        data = listed(api, limit=limit)
        assert len(data["urls"]) == items
        assert data["pagination"] == {"page": 1, "limit": int(limit), "total": 101, "pages": pages}


@pytest.mark.parametrize("name", ["page", "limit"])
def test_numbers_out_of_range_are_rejected(api: APIClient, name: str) -> None:
    verdicts = {
        "0": "min_value", "00": "min_value", "-1": "invalid", "-0": "invalid", "+1": "invalid", "": "invalid",
        " ": "invalid", " 1": "invalid", "1 ": "invalid", "1\n": "invalid", "abc": "invalid", "1.0": "invalid",
        "1e1": "invalid", "1_0": "invalid", "1,0": "invalid", "0x1": "invalid", "\uff11": "invalid",
        "\u0661": "invalid", "\u00b2": "invalid", "null": "invalid", "true": "invalid", "NaN": "invalid",
        "Infinity": "invalid", "2147483648": "invalid", "9223372036854775808": "invalid", "1" * 5000: "invalid",
        "1;--": "invalid", "1\0": "invalid", "999999999": "max_value",
    }  # fmt: skip
    for text, code in verdicts.items():
        assert broken_rules(api.get("/api/urls", {name: text})) == [(name, code)], text


def test_a_limit_of_101_is_rejected(api: APIClient) -> None:
    assert broken_rules(api.get("/api/urls", {"limit": 101})) == [("limit", "max_value")]


def test_at_most_one_million_links_precede_a_page(api: APIClient, make_link: MakeLink) -> None:
    make_link()
    assert listed(api, page=10_001, limit=100)["urls"] == []
    assert listed(api, page=1_000_001, limit=1)["urls"] == []
    assert broken_rules(api.get("/api/urls", {"page": 10_002, "limit": 100})) == [("page", "too_deep")]
    assert broken_rules(api.get("/api/urls", {"page": 1_000_002, "limit": 1})) == [("page", "max_value")]


def test_all_invalid_parameters_are_reported_together(api: APIClient) -> None:
    query = {"page": "x", "limit": "0", "search": "x" * 519, "isActive": "x", "sortBy": "x", "sortOrder": "x"}
    assert sorted(broken_rules(api.get("/api/urls", query))) == [
        ("isActive", "invalid"),
        ("limit", "min_value"),
        ("page", "invalid"),
        ("search", "max_length"),
        ("sortBy", "invalid_choice"),
        ("sortOrder", "invalid_choice"),
    ]


def test_a_page_beyond_the_end_is_empty(api: APIClient, alice: NewAccount) -> None:
    stock(alice.user, 5)
    for query in ({}, {"search": "stock"}, {"isActive": "true", "search": "stock"}):
        data = listed(api, page=4, limit=2, **query)
        assert data["urls"] == []
        assert data["pagination"]["page"] == 4
        assert data["pagination"]["total"] == total(api, **query)


@pytest.mark.parametrize("sort_order", ["asc", "desc"])
@pytest.mark.parametrize("sort_by", ["createdAt", "clickCount", "title"])
def test_all_pages_together_are_the_list_sorted_in_python(
    api: APIClient, alice: NewAccount, sort_by: str, sort_order: str
) -> None:
    stock(alice.user, 41)
    filters = [
        ({}, "true"),
        ({"isActive": "true"}, "l.is_active"),
        ({"isActive": "false"}, "NOT l.is_active"),
        ({"search": "STOCK1"}, "l.short_code LIKE 'stock1%%'"),
        ({"tags": "even", "isActive": "true"}, "l.is_active AND 'even' = ANY (l.tag_keys)"),
        ({"createdFrom": "2026-01-02"}, "l.created_at >= '2026-01-02Z'"),
        (
            {"createdFrom": "2026-01-02", "createdBefore": "2026-01-04T00:00:00Z", "isActive": "true"},
            "l.is_active AND l.created_at >= '2026-01-02Z' AND l.created_at < '2026-01-04Z'",
        ),
        (
            {"createdBefore": "2026-01-04T01:00:00+01:00", "tags": "even"},
            "l.created_at < '2026-01-04Z' AND 'even' = ANY (l.tag_keys)",
        ),
        (
            {"createdFrom": "2026-01-03", "search": "stock1"},
            "l.created_at >= '2026-01-03Z' AND l.short_code LIKE 'stock1%%'",
        ),
        ({"createdFrom": "2026-01-04", "createdBefore": "2026-01-02"}, "false"),
    ]
    for query, condition in filters:
        expected = naive_order(alice.user, sort_by, sort_order, condition)
        for limit in (1, 7, 41) if not query else (4,):
            walked = []
            for page in range(1, len(expected) // limit + 2):
                data = listed(api, sortBy=sort_by, sortOrder=sort_order, limit=limit, page=page, **query)
                assert data["pagination"]["total"] == len(expected)
                walked += [url["shortCode"] for url in data["urls"]]
            assert walked == expected, (query, limit)


# Sorting


def test_every_sort_key_works_in_both_orders(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
    for title, clicks in (("banana", 1), ("apple", 2), ("cherry", 0)):
        code = make_link(title=title)["shortCode"]
        for _ in range(clicks):
            visitor.get(f"/{code}")
    drain()
    orders = {
        "createdAt": ["banana", "apple", "cherry"],
        "clickCount": ["cherry", "banana", "apple"],
        "title": ["apple", "banana", "cherry"],
    }
    for sort_by, ascending in orders.items():
        assert listed_titles(api, sortBy=sort_by, sortOrder="asc") == ascending
        assert listed_titles(api, sortBy=sort_by, sortOrder="desc") == ascending[::-1]
        assert listed_titles(api, sortBy=sort_by) == ascending[::-1]
    assert listed_titles(api, sortOrder="asc") == orders["createdAt"]
    assert [url["clickCount"] for url in listed(api, sortBy="clickCount")["urls"]] == [2, 1, 0]


@pytest.mark.parametrize("name", ["sortBy", "sortOrder"])
def test_an_unknown_sort_key_is_rejected(api: APIClient, name: str) -> None:
    for text in (
        "", " ", "createdat", "CREATEDAT", "created_at", "updatedAt", "_id", "id", "owner_id", "password",
        "-createdAt", "ASC", "Desc", "ascending", "asc ", "1", "null", "title,clickCount", "title;--", "title) --",
        "asc, (SELECT 1)", "clickCount DESC NULLS LAST", "owner__password", "?", "'", '"', "\\", "%", "\0",
        "pg_sleep(5)", "{'$gt': ''}", "x" * 5000,
    ):  # fmt: skip
        assert broken_rules(api.get("/api/urls", {name: text})) == [(name, "invalid_choice")], text


# Search


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


# Filters


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


# The number of queries: one for the credential, one for the total, one for the page


@pytest.mark.parametrize("items", [1, 3])
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"sortBy": "clickCount"},
        {"sortBy": "title", "sortOrder": "asc"},
        {"search": "example"},
        {"tags": "news", "sortBy": "clickCount"},
        {"isActive": "true"},
        {"search": "example", "tags": "news", "isActive": "true", "sortBy": "clickCount"},
    ],
    ids=str,
)
def test_a_page_takes_three_queries_whatever_its_size(
    api: APIClient,
    make_link: MakeLink,
    django_assert_num_queries: Any,
    query: dict[str, str],
    items: int,
) -> None:
    for _ in range(items):
        make_link(tags=["news"])
    with django_assert_num_queries(3):
        assert len(listed(api, **query)["urls"]) == items


def test_items_with_every_field_take_no_further_query(
    api: APIClient, make_link: MakeLink, brand: Domain, django_assert_num_queries: Any
) -> None:
    for number in range(3):
        make_link(
            customCode=f"code{number}",
            domainId=str(brand.public_id),
            tags=["a", "b"],
            password="secret",
            expiresAt="2030-06-01",
            redirectType=301,
        )
    with django_assert_num_queries(3):
        items = listed(api)["urls"]
    assert [item["customCode"] for item in items] == ["code2", "code1", "code0"]
    assert {item["domainId"] for item in items} == {str(brand.public_id)}


# Totals


def test_totals_are_right_after_every_change(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    strange_api.post("/api/urls", {"originalUrl": "https://example.com/"})

    def totals() -> tuple[int, int, int]:
        return total(api), total(api, isActive="true"), total(api, isActive="false")

    links = [make_link() for _ in range(4)]
    assert totals() == (4, 4, 0)
    for _ in range(2):
        api.put(f"/api/urls/{links[0]['_id']}", {"isActive": False})
        assert totals() == (4, 3, 1)
    api.put(f"/api/urls/{links[1]['_id']}", {"isActive": False})
    assert totals() == (4, 2, 2)
    api.put(f"/api/urls/{links[0]['_id']}", {"isActive": True})
    assert totals() == (4, 3, 1)
    api.delete(f"/api/urls/{links[1]['_id']}")
    assert totals() == (3, 3, 0)
    api.delete(f"/api/urls/{links[2]['_id']}")
    assert totals() == (2, 2, 0)
    strange_api.delete(f"/api/urls/{links[3]['_id']}")
    assert totals() == (2, 2, 0)
    assert api.post("/api/urls", {"originalUrl": "nonsense"}).status_code == 400
    assert totals() == (2, 2, 0)


def test_the_total_of_an_unfiltered_list_has_no_limit(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(alice.user, 9)
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 2)
    monkeypatch.setattr("links.listing.counts.COUNT_LIMIT", 2)
    for query, count in (({}, 9), ({"isActive": "true"}, 6), ({"isActive": "false"}, 3)):
        assert listed(api, limit=1, **query)["pagination"] == {
            "page": 1,
            "limit": 1,
            "total": count,
            "pages": count,
        }


def test_dates_are_written_in_utc(api: APIClient, alice: NewAccount) -> None:
    stock(alice.user, 3)
    for url in listed(api)["urls"]:
        assert re.fullmatch(r"2026-01-0\dT00:00:00Z", url["createdAt"])


# Thresholds between scans and the search index


@pytest.mark.parametrize("reach", [1, 10, 10_000])
@pytest.mark.parametrize("fetch_limit", [3, 25, 1_000])
def test_internal_thresholds_do_not_change_the_list(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch, reach: int, fetch_limit: int
) -> None:
    stock(alice.user, 41)
    with connection.cursor() as cursor:
        # Dates over several months, out of insertion order, with empty months in between.
        cursor.execute("UPDATE links_link SET created_at = created_at + (id * 5 % 3) * interval '70 days'")
    monkeypatch.setattr("links.listing.searches.REACH", reach)
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", fetch_limit)
    filters = [
        ({"search": "STOCK"}, "true"),
        ({"search": "stock1"}, "l.short_code LIKE 'stock1%%'"),
        ({"search": "ock2", "isActive": "false"}, "l.short_code LIKE 'stock2%%' AND NOT l.is_active"),
        ({"search": "1"}, "l.short_code LIKE '%%1%%'"),
        ({"search": "k1"}, "l.short_code LIKE 'stock1%%'"),
        ({"search": "/2"}, "l.short_code LIKE 'stock2%%'"),
        ({"tags": "even"}, "'even' = ANY (l.tag_keys)"),
        ({"tags": "even,odd", "isActive": "false"}, "'even' = ANY (l.tag_keys) AND NOT l.is_active"),
        ({"search": "stock", "tags": "even"}, "'even' = ANY (l.tag_keys)"),
        ({"search": "sho.rt/stock7"}, "l.short_code = 'stock7'"),
        ({"search": "stick"}, "false"),
        ({"createdFrom": "2026-01-02"}, "l.created_at >= '2026-01-02Z'"),
        (
            {"createdFrom": "2026-01-04", "createdBefore": "2026-05-01", "isActive": "true"},
            "l.is_active AND l.created_at >= '2026-01-04Z' AND l.created_at < '2026-05-01Z'",
        ),
        ({"search": "stock", "createdBefore": "2026-03-13"}, "l.created_at < '2026-03-13Z'"),
        (
            {"tags": "even", "createdFrom": "2026-02-01"},
            "l.created_at >= '2026-02-01Z' AND 'even' = ANY (l.tag_keys)",
        ),
        # In some locales this is a k in lower case.
        ({"search": "\u212a"}, "l.short_code LIKE '%%' || lower('\u212a') || '%%'"),
    ]
    for query, condition in filters:
        for sort_by in ("createdAt", "clickCount", "title"):
            for sort_order in ("asc", "desc"):
                expected = naive_order(alice.user, sort_by, sort_order, condition)
                walked = []
                for page in range(1, len(expected) // 10 + 2):
                    data = listed(api, sortBy=sort_by, sortOrder=sort_order, limit=10, page=page, **query)
                    assert data["pagination"] == {
                        "page": page,
                        "limit": 10,
                        "total": len(expected),
                        "pages": -(-len(expected) // 10),
                    }
                    walked += [url["shortCode"] for url in data["urls"]]
                assert walked == expected, (query, sort_by, sort_order)


def test_a_search_with_many_hits_takes_one_more_query_the_first_time(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    stock(alice.user, 41)
    monkeypatch.setattr("links.listing.searches.REACH", 2)
    monkeypatch.setattr("links.listing.searches.FETCH_LIMIT", 3)
    with django_assert_num_queries(4):
        listed(api, search="stock")
    for sort_by in ("createdAt", "clickCount", "title"):
        for page, items in ((1, 4), (3, 4), (11, 1)):
            with django_assert_num_queries(3):
                urls = listed(api, search="stock", sortBy=sort_by, limit=4, page=page)["urls"]
            assert len(urls) == items


def test_the_searchable_copy_is_deleted_with_its_link(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    def searchable() -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT split_part(content, chr(10), 1) FROM links_searchable ORDER BY link_id")
            return [title for (title,) in cursor.fetchall()]

    links = [make_link(title=title) for title in ("One", "Two", "Three")]
    assert searchable() == ["one", "two", "three"]
    api.delete(f"/api/urls/{links[0]['_id']}")
    assert searchable() == ["two", "three"]
    alice.user.delete()
    assert searchable() == []
