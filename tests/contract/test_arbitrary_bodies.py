"""What schemathesis does not reach, because the description of the API does not have it: the tools of agents, and the
APIs of other shorteners. Arbitrary values instead of good ones are refused or accepted, and never end in a 5xx.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.services import NewAccount
from agents.tools import TOOLS, input_schemas
from testing.agents import headers_of, message, post
from testing.cases import for_each

pytestmark = [pytest.mark.urls("testing.compatible"), pytest.mark.slow]

ADDRESS = "https://example.com/spring"
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=30),
        st.sampled_from([ADDRESS, "base", "2026-11-29", "2026-02-30T24:00:00Z", "a" * 3000, "\0", "../.."]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
EXAMPLES = hypothesis_settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
BODIES: dict[str, dict[str, Any]] = {
    "/rest/v3/short-urls": {
        "longUrl": ADDRESS,
        "customSlug": "spring",
        "domain": None,
        "findIfExists": True,
        "maxVisits": 3,
        "shortCodeLength": 8,
        "tags": ["sale"],
        "title": "Spring",
        "validSince": "2026-01-01T00:00:00+01:00",
        "validUntil": "2036-01-01T00:00:00+01:00",
    },
    "/v4/bitlinks": {"long_url": ADDRESS, "domain": "bit.ly", "tags": ["sale"], "title": "Spring"},
    "/v4/expand": {"bitlink_id": "sho.rt/spring"},
}
QUERY = {
    "page": "1",
    "itemsPerPage": "10",
    "searchTerm": "spring",
    "tags[]": "sale",
    "tagsMode": "all",
    "orderBy": "dateCreated-DESC",
    "startDate": "2026-01-01T00:00:00+00:00",
    "endDate": "2026-12-31T00:00:00+00:00",
}


def some_of(good: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the members, each as it is or with an arbitrary value."""
    return st.fixed_dictionaries({}, optional={name: st.just(value) | VALUES for name, value in good.items()})


@pytest.fixture
def other(alice: NewAccount, settings: Settings) -> APIClient:
    settings.COMPATIBLE_APIS = frozenset({"shlink", "bitly"})
    return APIClient(headers={"host": "sho.rt", "authorization": f"Bearer {alice.api_key}"})


def assert_understood(response: Any) -> None:
    """The service has looked at what was sent, and not failed."""
    assert response.status_code in {200, 201, 202, 400, 404, 409, 413}, response.content


@for_each("tool", list(TOOLS))
def test_a_tool_takes_any_arguments(tool: str, api: APIClient) -> None:
    names = input_schemas()[tool]["properties"]

    @EXAMPLES
    @given(some_of(dict.fromkeys(names, ADDRESS)))
    def call(arguments: dict[str, Any]) -> None:
        sent = message("tools/call", {"name": tool, "arguments": arguments})
        response = post(api, json.dumps(sent).encode(), **headers_of(sent))
        assert_understood(response)
        assert response.json().get("error", {}).get("code") != -32603, response.content

    call()


@for_each("path", list(BODIES))
def test_an_api_of_others_takes_any_body(path: str, other: APIClient) -> None:
    @EXAMPLES
    @given(some_of(BODIES[path]) | VALUES)
    def send(body: Any) -> None:
        response = other.generic("POST", path, json.dumps(body).encode(), "application/json")
        assert_understood(response)

    send()


def test_their_lists_take_any_query(other: APIClient) -> None:
    @EXAMPLES
    @given(some_of(QUERY))
    def read(query: dict[str, Any]) -> None:
        response = other.get("/rest/v3/short-urls", {name: str(value) for name, value in query.items()})
        assert_understood(response)

    read()
