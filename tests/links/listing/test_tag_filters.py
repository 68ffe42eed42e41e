"""Lists of links with any or all of some tags, and without others."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.services import NewAccount
from testing.links.many import create_many
from testing.refusals import broken_rules
from tests.links.listing.listed import listed, listed_titles, spread_over_periods

MakeLink = Callable[..., dict[str, Any]]
URL = "https://example.com/"


@pytest.fixture
def tagged(make_link: MakeLink) -> None:
    for title, tags in {
        "none": [],
        "a": ["A"],
        "ab": ["a", "b"],
        "abc": ["a", "B", "c"],
        "c": ["c"],
        "odd": ["it's \\ !(x)"],
    }.items():
        make_link(f"{URL}{title}", title=title, tags=tags)


def test_a_link_needs_any_or_all_of_the_tags_and_none_of_the_excluded(api: APIClient, tagged: None) -> None:
    expected: dict[tuple[str, str, str], str] = {
        ("a,c", "any", ""): "a ab abc c",
        ("a,c", "all", ""): "abc",
        ("A, B ,b", "all", ""): "ab abc",
        ("a", "all", ""): "a ab abc",
        ("", "all", ""): "none a ab abc c odd",
        ("", "any", "a"): "none c odd",
        ("", "any", "A ,c,"): "none odd",
        ("a", "any", "b"): "a",
        ("a,b", "all", "c"): "ab",
        ("a", "any", "a"): "",
        ("", "any", "unknown"): "none a ab abc c odd",
        ("", "any", "it's \\ !(x)"): "none a ab abc c",
        ("it's \\ !(x)", "all", "c"): "odd",
    }
    found = {
        (tags, mode, excluded): " ".join(
            title or ""
            for title in listed_titles(api, tags=tags, tagsMode=mode, excludeTags=excluded, sortOrder="asc")
        )
        for tags, mode, excluded in expected
    }
    assert found == expected


@pytest.mark.parametrize(
    ("query", "broken"),
    [
        ({"tagsMode": "some"}, ("tagsMode", "invalid_choice")),
        ({"tagsMode": ""}, ("tagsMode", "invalid_choice")),
        ({"excludeTags": "x" * 51}, ("excludeTags", "tag")),
        ({"excludeTags": "x," * 1_276}, ("excludeTags", "max_length")),
        ({"excludeTags": "\0"}, ("excludeTags", "null_characters_not_allowed")),
    ],
    ids=str,
)
def test_bad_filters_are_refused(api: APIClient, query: dict[str, str], broken: tuple[str, str]) -> None:
    for path in ("/api/urls", "/api/urls/export"):
        assert broken_rules(api.get(path, query)) == [broken]


def test_exports_and_saved_views_take_the_same_filters(api: APIClient, tagged: None) -> None:
    filters = {"tags": "a,b", "tagsMode": "all", "excludeTags": "c"}
    response = api.get("/api/urls/export", filters | {"format": "csv"})
    lines = b"".join(response.streaming_content).decode().splitlines()
    assert [line.count("https://example.com/ab,") for line in lines] == [0, 1]
    view = api.post("/api/views", {"name": "Both", "filters": filters}).json()["data"]["view"]
    assert view["filters"] == filters
    refused = api.post("/api/views", {"name": "Bad", "filters": {"tagsMode": "some"}})
    assert broken_rules(refused) == [("filters.tagsMode", "invalid_choice")]


def test_tags_with_commas_are_selected_by_an_escape(api: APIClient, make_link: MakeLink) -> None:
    for title, tag in (("comma", "x,y"), ("both", "x\\,y"), ("two", "x")):
        make_link(title=title, tags=[tag, "y"] if tag == "x" else [tag])
    for tags, expected in (
        ("x\\,y", ["comma"]),
        ("x\\\\\\,y", ["both"]),
        ("x,y", ["two"]),
        (" X\\,Y , x", ["comma", "two"]),
    ):
        assert sorted(listed_titles(api, tags=tags)) == expected
        rest = sorted({"comma", "both", "two"} - {*expected})
        assert sorted(listed_titles(api, excludeTags=tags)) == rest
        for selection in ({"tags": tags}, {"excludeTags": tags}):
            assert api.get("/api/analytics", selection).status_code == 200
    view = {"name": "Comma", "filters": {"tags": "y,x\\,y", "excludeTags": "x"}, "report": {"tags": "x"}}
    assert api.post("/api/views", view).status_code == 201
    assert api.patch("/api/tags/x", {"name": "a,b\\"}).status_code == 200
    [view] = api.get("/api/views").json()["data"]["views"]
    assert (view["filters"], view["report"]) == (
        {"tags": "y,x\\,y", "excludeTags": "a\\,b\\\\"},
        {"tags": "a\\,b\\\\"},
    )
    assert listed_titles(api, **view["report"]) == ["two"]


@pytest.mark.slow
@pytest.mark.parametrize("limits", [(1_000, 5_000, 100_000), (3, 8, 100_000), (2, 4, 10)], ids=str)
def test_every_combination_lists_and_counts_exactly_the_matching_links(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int, int]
) -> None:
    fetched, reach, counted = limits
    monkeypatch.setattr("links.searches.FETCH_LIMIT", fetched)
    monkeypatch.setattr("links.searches.REACH", reach)
    monkeypatch.setattr("links.list_counts.COUNT_LIMIT", counted)
    chance = random.Random(7)
    shares = {"a": 0.8, "b": 0.4, "c": 0.1, "d": 0.95}
    links = [
        {
            "originalUrl": f"{URL}{number}",
            "title": f"{'sale' if chance.random() < 0.5 else 'news'} {number:02}",
            "tags": [tag for tag, share in shares.items() if chance.random() < share],
            "isActive": chance.random() < 0.7,
        }
        for number in range(60)
    ]
    create_many(api, links)
    spread_over_periods()

    def matches(link: dict[str, Any], query: dict[str, str]) -> bool:
        wanted = set(filter(None, query["tags"].split(",")))
        has = set(link["tags"])
        fits = wanted <= has if query["tagsMode"] == "all" else not wanted or bool(wanted & has)
        return (
            fits
            and not has & set(query["excludeTags"].split(","))
            and query.get("search", "") in link["title"]
            and query.get("isActive", str(link["isActive"]).lower()) == str(link["isActive"]).lower()
        )

    for tags in ("", "a", "a,b", "c,b", "a,b,c,d"):
        for mode in ("any", "all"):
            for excluded in ("", "a", "d", "a,d", "c"):
                for others in ({}, {"isActive": "false"}, {"search": "sale"}):
                    query = {"tags": tags, "tagsMode": mode, "excludeTags": excluded, **others}
                    sort = chance.choice(["createdAt", "title", "clickCount"])
                    expected = sorted(link["title"] for link in links if matches(link, query))
                    data = listed(api, **query, sortBy=sort, limit=100)
                    assert sorted(url["title"] for url in data["urls"]) == expected, (query, sort)
                    first = listed(api, **query, sortBy="title", sortOrder="asc", limit=5)
                    assert [url["title"] for url in first["urls"]] == expected[:5], query
                    total = first["pagination"]["total"]
                    is_capped = first["pagination"].get("totalIsCapped", False)
                    assert total == (min(len(expected), counted) if is_capped else len(expected)), query


def test_the_total_without_one_tag_has_no_limit(
    api: APIClient, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    create_many(api, [{"originalUrl": URL, "tags": ["a"] if n % 4 else ["b"]} for n in range(40)])
    monkeypatch.setattr("links.searches.FETCH_LIMIT", 2)
    monkeypatch.setattr("links.list_counts.COUNT_LIMIT", 5)
    with django_assert_num_queries(3):
        assert listed(api, excludeTags="b", limit=2)["pagination"]["total"] == 30
    with django_assert_num_queries(3):
        pagination = listed(api, excludeTags="b,c", limit=2)["pagination"]
    assert (pagination["total"], pagination["totalIsCapped"]) == (5, True)
