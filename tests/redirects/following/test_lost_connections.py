"""A lost connection to the database causes no error, and a click counts once."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from testing.analytics.clicks import clicks
from testing.connections import closed_connection as closed_connection
from testing.connections import kill_backend
from testing.pages.html import parse
from tests.redirects.following.outages import MakeLink, serve

pytestmark = pytest.mark.django_db(transaction=True)

VISITS: dict[str, tuple[dict[str, Any], int]] = {
    "plain": ({}, 302),
    "capped": ({"restrictions": {"maxClicks": 5}}, 302),
    "country": ({"restrictions": {"blockedCountries": ["GB"]}}, 302),
    "password": ({"password": "secret"}, 401),
    "expired": ({"expiresAt": "2020-01-01T00:00:00Z"}, 410),
}


@pytest.mark.parametrize("kind", VISITS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_connection_lost_between_visits_causes_no_error(
    visitor: Client, make_link: MakeLink, kind: str, method: str
) -> None:
    fields, status = VISITS[kind]
    path = f"/{make_link(**fields)['shortCode']}"
    if (kind, method) == ("capped", "HEAD"):
        status = 200

    for _ in range(2):
        kill_backend()
        assert serve(lambda: visitor.generic(method, path)).status_code == status


def test_a_click_after_a_lost_connection_counts_exactly_once(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    links = [make_link(), make_link(restrictions={"maxClicks": 3})]
    for link in links:
        for _ in range(3):
            kill_backend()
            assert serve(lambda path=f"/{link['shortCode']}": visitor.get(path)).status_code == 302

    assert [clicks(api, link) for link in links] == [3, 3]


@pytest.mark.parametrize("password", ["secret", "wrong"])
def test_a_connection_lost_before_a_password_is_sent_causes_no_error(
    visitor: Client, make_link: MakeLink, password: str
) -> None:
    path = f"/{make_link(password='secret')['shortCode']}"
    token = parse(visitor.get(path)).value_of("csrfmiddlewaretoken")

    kill_backend()
    response = serve(lambda: visitor.post(path, {"csrfmiddlewaretoken": token, "password": password}))

    assert response.status_code == {"secret": 303, "wrong": 401}[password]


@pytest.mark.parametrize("path", ["/unknown", "/readyz", "/healthz"])
def test_a_lost_connection_causes_no_error_on_other_pages(visitor: Client, path: str) -> None:
    kill_backend()

    assert serve(lambda: visitor.get(path)).status_code == (404 if path == "/unknown" else 200)


@pytest.mark.parametrize("path", ["/api/urls", "/api/urls/stats", "/api/urls/domains/available"])
def test_a_lost_connection_causes_no_error_in_the_api(api: APIClient, path: str) -> None:
    kill_backend()

    assert serve(lambda: api.get(path)).status_code == 200


def test_a_connection_lost_during_a_claim_neither_redirects_nor_counts(
    visitor: Client, api: APIClient, make_link: MakeLink
) -> None:
    """The outcome of the write is unknown then, so it is not retried."""
    link = make_link(restrictions={"maxClicks": 5})

    def dies_before_the_claim(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if "links_claim(" in sql:
            kill_backend()
        return execute(sql, *rest)

    with connection.execute_wrapper(dies_before_the_claim):
        response = serve(lambda: visitor.get(f"/{link['shortCode']}"))

    assert response.status_code == 503
    assert "Location" not in response
    assert clicks(api, link) == 0
