"""Tags that a bulk update adds to and removes from many links, whatever else they have."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from testing.links.calls import whole
from tests.links.many_changes import MakeLink, update, update_all


def test_tags_are_added_and_removed_beside_others(api: APIClient, make_link: MakeLink) -> None:
    links = [make_link(tags=tags) for tags in (["a", "Old"], ["NEW", "old", "OLD"], [])]
    changes = {"addTags": ["New", "x", "X "], "removeTags": ["old", "none"], "isActive": False}
    verdicts = update_all(api, [link["_id"] for link in links], changes)
    expected = [["a", "New", "x"], ["NEW", "x"], ["New", "x"]]
    assert [verdict["url"]["tags"] for verdict in verdicts] == expected
    assert [whole(api, link)["tags"] for link in links] == expected
    assert [url["title"] for url in api.get("/api/urls?tags=old").json()["data"]["urls"]] == []
    [again] = update(api, {"_id": links[0]["_id"], "addTags": [], "removeTags": ["A"]})
    assert again["url"]["tags"] == ["New", "x"]


def test_a_tag_that_is_removed_and_added_moves_to_the_end(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(tags=["a", "b"])
    [verdict] = update(api, {"_id": link["_id"], "addTags": ["A"], "removeTags": ["a"]})
    assert verdict["url"]["tags"] == ["b", "A"]


def test_a_link_with_fifty_tags_gets_no_more(api: APIClient, make_link: MakeLink) -> None:
    full, other = make_link(tags=[str(n) for n in range(50)]), make_link()
    verdicts = update_all(api, [full["_id"], other["_id"]], {"addTags": ["new"]})
    assert [verdict["status"] for verdict in verdicts] == [400, 200]
    assert verdicts[0]["errors"] == [
        {"field": "addTags", "code": "max_length", "message": "A URL has at most 50 tags."}
    ]
    assert len(whole(api, full)["tags"]) == 50


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"tags": ["a"], "addTags": ["b"]}, ("tags", "ambiguous")),
        ({"tags": [], "removeTags": []}, ("tags", "ambiguous")),
        ({"addTags": [" "]}, ("addTags.0", "blank_tag")),
        ({"addTags": "a"}, ("addTags", "not_a_list")),
        ({"removeTags": ["x" * 51]}, ("removeTags.0", "max_length")),
    ],
    ids=str,
)
def test_bad_tags_are_refused(
    api: APIClient, make_link: MakeLink, changes: dict[str, Any], broken: tuple[str, str]
) -> None:
    link = make_link(tags=["kept"])
    for verdict in (*update(api, {"_id": link["_id"], **changes}), *update_all(api, [link["_id"]], changes)):
        assert [(error["field"], error["code"]) for error in verdict["errors"]] == [broken]
    assert whole(api, link)["tags"] == ["kept"]


def test_a_single_update_replaces_all_tags(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(tags=["a"])
    response = api.put(f"/api/urls/{link['_id']}", {"addTags": ["b"]})
    assert [warning["field"] for warning in response.json()["warnings"]] == ["addTags"]
    assert whole(api, link)["tags"] == ["a"]
