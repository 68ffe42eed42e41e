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
from tests.clicks import drain
from tests.refusals import broken_rules

ITEM_KEYS = {
    "_id",
    "originalUrl",
    "shortCode",
    "shortUrl",
    "title",
    "clickCount",
    "isActive",
    "createdAt",
}
MakeLink = Callable[..., dict[str, Any]]


def listed(api: APIClient, **query: object) -> dict[str, Any]:
    response = api.get("/api/urls", query)
    assert response.status_code == 200, response.content
    answer = response.json()
    assert answer.keys() == {"success", "data"}
    assert answer["success"] is True
    assert answer["data"].keys() == {"urls", "pagination"}
    return answer["data"]


def found(api: APIClient, **query: object) -> list[str | None]:
    """The titles of a list, whose total says as many."""
    data = listed(api, **query)
    assert data["pagination"]["total"] == len(data["urls"])
    return [url["title"] for url in data["urls"]]


def total(api: APIClient, **query: object) -> int:
    return listed(api, **query)["pagination"]["total"]


def stock(owner: User, count: int) -> None:
    """Links by the dozen, with equal titles, moments of creation, clicks and tags among them."""
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
            "UPDATE links_clickcounter SET clicks = link_id * 11 %% 4 WHERE owner_id = %(owner)s",
            {"owner": owner.pk},
        )


def naive_order(owner: User, sort_by: str, sort_order: str, where: str = "true") -> list[str]:
    """All short codes in the order that a plain sort in Python gives them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT l.short_code, l.id, l.created_at, coalesce(l.title, ''), n.clicks FROM links_link l"
            f" JOIN links_clickcounter n ON n.link_id = l.id WHERE l.owner_id = %s AND {where}",
            [owner.pk],
        )
        rows = cursor.fetchall()
    column = {"createdAt": 2, "title": 3, "clickCount": 4}[sort_by]
    rows.sort(key=lambda row: (row[column], row[1]), reverse=sort_order == "desc")
    return [row[0] for row in rows]


# What comes back


def test_an_empty_list(api: APIClient) -> None:
    assert listed(api) == {"urls": [], "pagination": {"page": 1, "limit": 20, "total": 0, "pages": 0}}


def test_an_item_in_full(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="t", customCode="spring", password="secret")
    assert listed(api) == {
        "urls": [
            {
                "_id": link["_id"],
                "originalUrl": "https://example.com/page",
                "shortCode": link["shortCode"],
                "shortUrl": "http://sho.rt/spring",
                "title": "t",
                "clickCount": 0,
                "isActive": True,
                "createdAt": link["createdAt"],
            }
        ],
        "pagination": {"page": 1, "limit": 20, "total": 1, "pages": 1},
    }


def test_an_item_on_a_domain_carries_its_address(
    api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    domain = Domain.objects.create(
        owner=alice.user, domain="brand.example", subdomain="go", host="go.brand.example", status="active"
    )
    link = make_link(domainId=str(domain.public_id))
    [item] = listed(api)["urls"]
    assert item.keys() == ITEM_KEYS
    assert item["shortUrl"] == f"https://go.brand.example/{link['shortCode']}"


def test_the_newest_link_comes_first_and_twenty_make_a_page(api: APIClient, make_link: MakeLink) -> None:
    for number in range(21):
        make_link(title=str(number))
    data = listed(api)
    assert [url["title"] for url in data["urls"]] == [str(number) for number in range(20, 0, -1)]
    assert data["pagination"] == {"page": 1, "limit": 20, "total": 21, "pages": 2}


def test_a_token_lists_as_a_key_does(bearer: APIClient, make_link: MakeLink) -> None:
    make_link(title="mine")
    assert found(bearer) == ["mine"]


def test_a_stranger_sees_nothing(
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
        assert found(strange_api, **query) == []
    for key in ("owner", "owner_id", "creator", "user"):
        assert found(strange_api, **{key: str(alice.user.public_id)}) == []
        assert found(strange_api, **{key: alice.user.pk}) == []
    assert len(found(api)) == 2


@pytest.mark.django_db
def test_nobody_lists_without_a_credential(anonymous: APIClient) -> None:
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
def test_what_is_no_number_within_bounds_is_refused(api: APIClient, name: str) -> None:
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


def test_a_limit_of_101_is_refused(api: APIClient) -> None:
    assert broken_rules(api.get("/api/urls", {"limit": 101})) == [("limit", "max_value")]


def test_pages_reach_down_to_a_million_rows(api: APIClient, make_link: MakeLink) -> None:
    make_link()
    assert listed(api, page=10_000, limit=100)["urls"] == []
    assert broken_rules(api.get("/api/urls", {"page": 10_001, "limit": 100})) == [("page", "too_deep")]
    assert broken_rules(api.get("/api/urls", {"page": 1_000_001, "limit": 1})) == [("page", "max_value")]


def test_all_broken_parameters_come_at_once(api: APIClient) -> None:
    query = {"page": "x", "limit": "0", "search": "x" * 201, "isActive": "x", "sortBy": "x", "sortOrder": "x"}
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
def test_the_pages_make_up_the_whole_list_in_a_plain_sorts_order(
    api: APIClient, alice: NewAccount, sort_by: str, sort_order: str
) -> None:
    stock(alice.user, 41)
    filters = [
        ({}, "true"),
        ({"isActive": "true"}, "l.is_active"),
        ({"isActive": "false"}, "NOT l.is_active"),
        ({"search": "STOCK1"}, "l.short_code LIKE 'stock1%%'"),
        ({"tags": "even", "isActive": "true"}, "l.is_active AND 'even' = ANY (l.tag_keys)"),
    ]
    for query, where in filters:
        expected = naive_order(alice.user, sort_by, sort_order, where)
        for limit in (1, 7, 41) if not query else (4,):
            walked = []
            for page in range(1, len(expected) // limit + 2):
                data = listed(api, sortBy=sort_by, sortOrder=sort_order, limit=limit, page=page, **query)
                assert data["pagination"]["total"] == len(expected)
                walked += [url["shortCode"] for url in data["urls"]]
            assert walked == expected, (query, limit)


# Sorting


def test_each_sort_in_each_order(api: APIClient, make_link: MakeLink, visitor: Client) -> None:
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
        assert found(api, sortBy=sort_by, sortOrder="asc") == ascending
        assert found(api, sortBy=sort_by, sortOrder="desc") == ascending[::-1]
        assert found(api, sortBy=sort_by) == ascending[::-1]
    assert found(api, sortOrder="asc") == orders["createdAt"]
    assert [url["clickCount"] for url in listed(api, sortBy="clickCount")["urls"]] == [2, 1, 0]


@pytest.mark.parametrize("name", ["sortBy", "sortOrder"])
def test_what_is_no_sort_is_refused(api: APIClient, name: str) -> None:
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
    assert {term: found(api, search=term, sortOrder="asc") for term in expected} == expected


def test_a_search_finds_each_short_code_in_any_case(api: APIClient, haystack: dict[str, str]) -> None:
    for title, code in haystack.items():
        for term in (code, code.lower(), code.upper(), code[1:6]):
            assert title in found(api, search=term)


def test_a_search_follows_a_change(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="before", customCode="before1")
    api.put(f"/api/urls/{link['_id']}", {"title": "after", "customCode": "after1"})
    assert found(api, search="after") == ["after"]
    assert found(api, search="before") == []


def test_a_search_term_has_at_most_200_characters(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="x" * 200)
    make_link(title="%" * 200)
    assert found(api, search="x" * 200) == ["x" * 200]
    assert found(api, search="%" * 200) == ["%" * 200]
    assert found(api, search="\N{GRINNING FACE}" * 200) == []
    for term in ("x" * 201, "\N{GRINNING FACE}" * 201, "%" * 5000):
        assert broken_rules(api.get("/api/urls", {"search": term})) == [("search", "max_length")]


@pytest.mark.parametrize("name", ["search", "tags"])
def test_nul_in_a_filter_is_refused(api: APIClient, name: str) -> None:
    for text in ("\0", "a\0b", "\0" * 200):
        assert [field for field, _ in broken_rules(api.get("/api/urls", {name: text}))] == [name]


def test_bytes_that_are_no_utf8_break_nothing(api: APIClient, make_link: MakeLink) -> None:
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
    assert {tags: found(api, tags=tags, sortOrder="asc") for tags in expected} == expected


def test_the_tag_filter_takes_fifty_tags_of_fifty_characters(api: APIClient, make_link: MakeLink) -> None:
    tags = [f"{number:02}" + "x" * 48 for number in range(50)]
    make_link(title="all", tags=tags)
    make_link(title="last", tags=[tags[-1]])
    assert found(api, tags=",".join(tags)) == ["last", "all"]
    assert broken_rules(api.get("/api/urls", {"tags": "x" * 2551})) == [("tags", "max_length")]


def test_a_filter_names_only_what_can_be_a_tag(api: APIClient, make_link: MakeLink) -> None:
    # Of decomposed letters, as a Mac writes file names, and with blanks that do not count.
    longest = "e\u0301" * 50
    make_link(title="longest", tags=["\u00e9" * 50])
    make_link(title="decomposed", tags=[longest])
    assert found(api, tags=f"no,  {longest}  ") == ["decomposed"]
    # Beyond 2,046 bytes it would be no word for the index at all.
    for tag in ("x" * 51, "x" * 2550, "a," + "\U0001f600" * 51):
        assert broken_rules(api.get("/api/urls", {"tags": tag})) == [("tags", "tag")]


def test_the_tag_filter_follows_a_change(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(title="t", tags=["before"])
    api.put(f"/api/urls/{link['_id']}", {"tags": ["after"]})
    assert (found(api, tags="after"), found(api, tags="before")) == (["t"], [])


def test_the_activity_filter(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="on")
    off = make_link(title="off")
    make_link(title="expired", expiresAt="2001-01-01")
    api.put(f"/api/urls/{off['_id']}", {"isActive": False})
    for text in ("true", "True", "TRUE"):
        assert found(api, isActive=text) == ["expired", "on"]
    for text in ("false", "False", "FALSE"):
        assert found(api, isActive=text) == ["off"]
    for text in ("1", "0", "yes", "no", "on", "off", "t", "f", "", " ", " true", "null", "\uff54rue", "\0"):
        assert broken_rules(api.get("/api/urls", {"isActive": text})) == [("isActive", "invalid")], text


def test_filters_narrow_each_other(api: APIClient, make_link: MakeLink) -> None:
    for number, (title, tags) in enumerate(
        [("sale", ["a"]), ("sale", ["b"]), ("other", ["a"]), ("sale", ["a", "c"])]
    ):
        make_link(f"https://example.com/{number}", title=f"{title} {number}", tags=tags)
    last = listed(api, search="sale 3")["urls"][0]
    api.put(f"/api/urls/{last['_id']}", {"isActive": False})
    assert found(api, search="sale", tags="a") == ["sale 3", "sale 0"]
    assert found(api, search="sale", tags="a", isActive="true") == ["sale 0"]
    assert found(api, search="sale", isActive="false") == ["sale 3"]
    assert found(api, tags="a,b", isActive="true", sortBy="title", sortOrder="asc") == [
        "other 2",
        "sale 0",
        "sale 1",
    ]
    assert found(api, search="sale", tags="c", isActive="true") == []
    data = listed(api, search="sale", tags="a,b", sortBy="clickCount", sortOrder="asc", page=2, limit=2)
    assert [url["title"] for url in data["urls"]] == ["sale 3"]
    assert data["pagination"] == {"page": 2, "limit": 2, "total": 3, "pages": 2}


def test_parameters_that_nobody_knows_are_ignored(api: APIClient, make_link: MakeLink) -> None:
    make_link(title="mine")
    for name in (
        "owner", "_connector", "_negated", "title__icontains", "id__in", "password__startswith", "format", "Search",
        "sort", "order", "offset", "q", "api_key", "X-API-Key", "page[size]", "limit[]", "", "\0", "'", "__proto__",
    ):  # fmt: skip
        for value in ("", "OR", "1", "\0", "' OR 1=1 --"):
            assert found(api, **{name: value}) == ["mine"]


def test_of_a_repeated_parameter_the_last_counts(api: APIClient, alice: NewAccount) -> None:
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


# Totals


def test_totals_follow_every_change(api: APIClient, strange_api: APIClient, make_link: MakeLink) -> None:
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


def test_the_total_of_a_filtered_list_is_counted_up_to_a_limit(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(alice.user, 9)
    expected = naive_order(alice.user, "createdAt", "desc")
    monkeypatch.setattr("links.searches.COUNT_LIMIT", 8)
    data = listed(api, search="stock", limit=2)
    assert data["pagination"] == {"page": 1, "limit": 2, "total": 8, "pages": 4, "totalIsCapped": True}
    # What lies beyond the limit can still be leafed through.
    pages = [listed(api, search="stock", limit=2, page=page)["urls"] for page in range(1, 7)]
    assert [url["shortCode"] for page in pages for url in page] == expected
    monkeypatch.setattr("links.searches.COUNT_LIMIT", 9)
    assert listed(api, search="stock", limit=2)["pagination"] == {
        "page": 1,
        "limit": 2,
        "total": 9,
        "pages": 5,
    }


def test_the_total_of_an_unfiltered_list_has_no_limit(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(alice.user, 9)
    monkeypatch.setattr("links.searches.COUNT_LIMIT", 2)
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


# However far a list is read before the index of searches is asked, and wherever it is asked


@pytest.mark.parametrize("reach", [1, 10, 10_000])
@pytest.mark.parametrize("count_limit", [3, 25, 1_000])
def test_no_limit_of_ours_changes_what_is_listed(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch, reach: int, count_limit: int
) -> None:
    stock(alice.user, 41)
    with connection.cursor() as cursor:
        # Over months, not in the order of their creation, and with months of nothing in between.
        cursor.execute("UPDATE links_link SET created_at = created_at + (id * 5 % 3) * interval '70 days'")
    monkeypatch.setattr("links.searches.REACH", reach)
    monkeypatch.setattr("links.searches.COUNT_LIMIT", count_limit)
    filters = [
        ({"search": "STOCK"}, "true"),
        ({"search": "stock1"}, "l.short_code LIKE 'stock1%%'"),
        ({"search": "ock2", "isActive": "false"}, "l.short_code LIKE 'stock2%%' AND NOT l.is_active"),
        ({"search": "1"}, "l.short_code LIKE '%%1%%'"),
        ({"search": "k1"}, "l.short_code LIKE 'stock1%%'"),
        ({"search": "/2"}, "l.short_code LIKE 'stock2%%'"),
        ({"tags": "even"}, "'even' = ANY (l.tag_keys)"),
        ({"search": "stock", "tags": "even"}, "'even' = ANY (l.tag_keys)"),
        ({"search": "stick"}, "false"),
        # In some locales this is a k in lower case.
        ({"search": "\u212a"}, "l.short_code LIKE '%%' || lower('\u212a') || '%%'"),
    ]
    for query, where in filters:
        for sort_by in ("createdAt", "clickCount", "title"):
            for sort_order in ("asc", "desc"):
                expected = naive_order(alice.user, sort_by, sort_order, where)
                walked = []
                for page in range(1, len(expected) // 10 + 2):
                    data = listed(api, sortBy=sort_by, sortOrder=sort_order, limit=10, page=page, **query)
                    capped = len(expected) > count_limit
                    assert data["pagination"]["total"] == min(len(expected), count_limit)
                    assert data["pagination"].get("totalIsCapped", False) is capped
                    walked += [url["shortCode"] for url in data["urls"]]
                assert walked == expected, (query, sort_by, sort_order)


def test_a_deep_page_of_a_capped_search_is_one_query_more(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    stock(alice.user, 41)
    monkeypatch.setattr("links.searches.REACH", 2)
    monkeypatch.setattr("links.searches.COUNT_LIMIT", 3)
    for sort_by in ("createdAt", "clickCount", "title"):
        for page, items in ((1, 4), (3, 4), (11, 1), (12, 0)):
            with django_assert_num_queries(3):
                urls = listed(api, search="stock", sortBy=sort_by, limit=4, page=page)["urls"]
            assert len(urls) == items


def test_what_lists_read_goes_with_its_link(api: APIClient, alice: NewAccount, make_link: MakeLink) -> None:
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
