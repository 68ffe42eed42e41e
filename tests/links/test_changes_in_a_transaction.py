"""A change within somebody's transaction: what others saw of it until its end, they do not go on seeing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links import destination_cache
from tests.admin import Operator
from tests.links.threads import at_once
from tests.redirects.test_follow import CUSTOM_HOST, custom_domain

pytestmark = pytest.mark.django_db(transaction=True)

URL = "https://example.com/page"
Change = Callable[[APIClient, dict[str, Any]], Any]
See = Callable[[], tuple[int, str | None]]


@pytest.fixture(autouse=True)
def unknown_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nobody asks the database again because time has passed."""
    monkeypatch.setattr(destination_cache, "UNKNOWN_SECONDS", 3600)


def seen_by_another(visitor: Client, path: str, host: str = "sho.rt") -> tuple[int, str | None]:
    """On a connection of its own, which sees only what is committed."""
    [response] = at_once([lambda: visitor.get(path, headers={"host": host})])
    return response.status_code, response.headers.get("Location")


def across(change: Callable[[], Any], see: See) -> tuple[tuple[int, str | None], tuple[int, str | None]]:
    """What others see before the change is committed, and what they see then."""
    with transaction.atomic():
        response = change()
        assert response.status_code in (200, 201, 302), response.content
        meanwhile = see()
    return meanwhile, see()


FOLLOWED, OFF, UNKNOWN = (302, URL), (410, None), (404, None)


@pytest.mark.parametrize(
    "create",
    [
        lambda api: api.post("/api/urls", {"originalUrl": URL, "customCode": "spring"}),
        lambda api: api.post("/api/urls/bulk", {"urls": [{"originalUrl": URL, "customCode": "spring"}]}),
    ],
    ids=["alone", "with others"],
)
def test_a_link_is_new(create: Callable[[APIClient], Any], api: APIClient, visitor: Client) -> None:
    see = partial(seen_by_another, visitor, "/spring")
    assert across(lambda: create(api), see) == (UNKNOWN, FOLLOWED)


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (lambda api, link: api.put(f"/api/urls/{link['_id']}", {"isActive": False}), OFF),
        (
            lambda api, link: api.post(
                "/api/urls/bulk-update", {"ids": [link["_id"]], "data": {"isActive": False}}
            ),
            OFF,
        ),
        (lambda api, link: api.delete(f"/api/urls/{link['_id']}"), UNKNOWN),
        (lambda api, link: api.post("/api/urls/bulk-delete", {"ids": [link["_id"]]}), UNKNOWN),
    ],
    ids=["changed", "changed with others", "deleted", "deleted with others"],
)
def test_a_link_changes(
    change: Change, after: object, api: APIClient, make_link: Callable[..., dict[str, Any]], visitor: Client
) -> None:
    link = make_link(URL)
    see = partial(seen_by_another, visitor, f"/{link['shortCode']}")
    assert across(lambda: change(api, link), see) == (FOLLOWED, after)


def test_a_code_becomes_another_link_s(
    api: APIClient, make_link: Callable[..., dict[str, Any]], visitor: Client
) -> None:
    link = make_link(URL)
    see = partial(seen_by_another, visitor, "/spring")
    change = partial(api.put, f"/api/urls/{link['_id']}", {"customCode": "spring"})
    assert across(change, see) == (UNKNOWN, FOLLOWED)


@pytest.fixture
def brand(alice: NewAccount) -> Domain:
    return custom_domain(alice)


def test_a_domain_sends_those_elsewhere_who_ask_in_vain(
    api: APIClient, brand: Domain, visitor: Client
) -> None:
    see = partial(seen_by_another, visitor, "/nothing", CUSTOM_HOST)
    change = partial(api.patch, f"/api/domains/{brand.public_id}", {"notFoundUrl": URL})
    assert across(change, see) == (UNKNOWN, FOLLOWED)


def test_a_domain_is_deleted(
    api: APIClient, make_link: Callable[..., dict[str, Any]], brand: Domain, visitor: Client
) -> None:
    link = make_link(URL, domainId=str(brand.public_id))
    see = partial(seen_by_another, visitor, f"/{link['shortCode']}", CUSTOM_HOST)
    see_at_home = partial(seen_by_another, visitor, f"/{link['shortCode']}")
    assert see_at_home() == UNKNOWN
    assert across(partial(api.delete, f"/api/domains/{brand.public_id}"), see) == (FOLLOWED, UNKNOWN)
    assert see_at_home() == FOLLOWED


def test_an_operator_bans_a_host_and_lifts_the_ban(
    operator: Operator, make_link: Callable[..., dict[str, Any]], visitor: Client
) -> None:
    link = make_link(URL)
    see = partial(seen_by_another, visitor, f"/{link['shortCode']}")
    ban = partial(operator.send, "links/ban/add/", host="example.com", owner="", reason="")
    assert across(ban, see) == (FOLLOWED, OFF)
    [banned] = operator.rows("links/ban/")
    lift = partial(operator.send, f"links/ban/{banned.pk}/delete/", post="yes")
    assert across(lift, see) == (OFF, FOLLOWED)
