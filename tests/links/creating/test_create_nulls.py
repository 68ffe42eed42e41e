"""Null and empty values of a new link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from testing.links.calls import whole
from tests.links.creation import RESTRICTION_LISTS, UTM_KEYS


def test_null_is_the_default(api: APIClient, make_link: Callable[..., Any]) -> None:
    defaults = {
        "customCode": None,
        "title": None,
        "description": None,
        "tags": [],
        "expiresAt": None,
        "domainId": "base",
        "utm": {},
        "restrictions": {},
        "redirectType": 302,
    }
    assert {field: whole(api, make_link(**{field: None}))[field] for field in defaults} == defaults


def test_a_null_password_sets_no_password(api: APIClient, make_link: Callable[..., Any]) -> None:
    assert whole(api, make_link(password=None))["hasPassword"] is False


@pytest.mark.parametrize("key", UTM_KEYS)
def test_a_null_utm_value_is_absent(api: APIClient, make_link: Callable[..., Any], key: str) -> None:
    assert whole(api, make_link(utm={key: None}))["utm"] == {}


@pytest.mark.parametrize("key", ["maxClicks", *RESTRICTION_LISTS])
def test_a_null_or_empty_restriction_restricts_nothing(
    api: APIClient, make_link: Callable[..., Any], key: str
) -> None:
    assert whole(api, make_link(restrictions={key: None}))["restrictions"] == {}
    if key != "maxClicks":
        assert whole(api, make_link(restrictions={key: []}))["restrictions"] == {}


@pytest.mark.parametrize("field", ["title", "description"])
def test_an_empty_text_is_not_null(api: APIClient, make_link: Callable[..., Any], field: str) -> None:
    assert whole(api, make_link(**{field: ""}))[field] == ""
