"""Bodies of bulk updates: shared changes and ambiguous bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from testing.links.calls import whole
from testing.links.many import UNKNOWN_ID
from testing.refusals import broken_rules
from tests.links.many_changes import MakeLink, update_all

BODIES: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({}, [("urls", "ambiguous")]),
    ({"ids": [UNKNOWN_ID]}, [("urls", "ambiguous")]),
    ({"data": {}}, [("urls", "ambiguous")]),
    ({"ids": [], "data": {}}, [("ids", "min_length")]),
    ({"ids": [5], "data": {}}, [("ids.0", "invalid")]),
    ({"ids": [UNKNOWN_ID] * 1001, "data": {}}, [("ids", "max_length")]),
    ({"ids": [UNKNOWN_ID], "data": []}, [("data", "invalid")]),
    ({"ids": [UNKNOWN_ID], "data": {}, "urls": [{}]}, [("urls", "ambiguous")]),
    ({"urls": [{}] * 1001}, [("urls", "max_length")]),
]


def test_errors_in_shared_changes_are_reported_per_item(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    verdicts = update_all(api, [link["_id"], UNKNOWN_ID], {"title": 5})
    assert [verdict["errors"][0]["field"] for verdict in verdicts] == ["title", "title"]
    assert whole(api, link)["title"] is None


@pytest.mark.parametrize(("body", "rules"), BODIES)
def test_an_ambiguous_body_is_refused(
    api: APIClient, make_link: MakeLink, body: dict[str, Any], rules: list[tuple[str, str]]
) -> None:
    response = api.post("/api/urls/bulk-update", body)
    assert response.status_code == 400
    assert broken_rules(response) == rules


def test_changes_for_many_ids_are_bounded_together(
    api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    link = make_link()
    ids = [link["_id"], *(str(uuid4()) for _ in range(999))]
    split = [
        {"name": "n" * 40, "url": f"https://example.com/{n}?" + "x" * 1_000, "weight": 1} for n in range(4)
    ]

    def update(ids: list[str]) -> Any:
        return api.post("/api/urls/bulk-update", {"ids": ids, "data": {"split": split}})

    refused = update(ids)
    assert (refused.status_code, refused.json()["code"]) == (400, "validation_error")
    [error] = refused.json()["errors"]
    assert (error["field"], error["code"]) == ("data", "too_large")
    assert api.get(f"/api/urls/{link['_id']}").json()["data"]["url"]["split"] == []
    accepted = update(ids[:900])
    assert accepted.status_code == 200, accepted.json()
    assert accepted.json()["data"]["succeeded"] == 1
