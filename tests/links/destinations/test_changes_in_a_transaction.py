"""A change inside an open transaction: after the commit, other workers do not keep the old state cached."""

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
from links.destinations import cache as destination_cache
from testing.accounts.admin import Operator
from testing.redirects.following import CUSTOM_HOST, custom_domain
from testing.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

URL = "https://example.com/page"
Change = Callable[[APIClient, dict[str, Any]], Any]
Follow = Callable[[], tuple[int, str | None]]


@pytest.fixture(autouse=True)
def unknown_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents expiry of entries, so that only a change can invalidate them."""
    monkeypatch.setattr(destination_cache, "UNKNOWN_SECONDS", 3600)


def status_and_location(visitor: Client, path: str, host: str = "sho.rt") -> tuple[int, str | None]:
    """Read on a separate connection, which sees only committed data."""
    [response] = at_once([lambda: visitor.get(path, headers={"host": host})])
    return response.status_code, response.headers.get("Location")


def across(
    change: Callable[[], Any], follow: Follow
) -> tuple[tuple[int, str | None], tuple[int, str | None]]:
    """The state that others see before and after the commit."""
    with transaction.atomic():
        response = change()
        assert response.status_code in (200, 201, 302), response.content
        meanwhile = follow()
    return meanwhile, follow()


FOLLOWED, OFF, UNKNOWN = (302, URL), (410, None), (404, None)


@pytest.mark.parametrize(
    "create",
    [
        lambda api: api.post("/api/urls", {"originalUrl": URL, "customCode": "spring"}),
        lambda api: api.post("/api/urls/bulk", {"urls": [{"originalUrl": URL, "customCode": "spring"}]}),
    ],
    ids=["alone", "with others"],
)
def test_creating_a_link(create: Callable[[APIClient], Any], api: APIClient, visitor: Client) -> None:
    follow = partial(status_and_location, visitor, "/spring")
    assert across(lambda: create(api), follow) == (UNKNOWN, FOLLOWED)


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
def test_changing_a_link(
    change: Change, after: object, api: APIClient, make_link: Callable[..., dict[str, Any]], visitor: Client
) -> None:
    link = make_link(URL)
    follow = partial(status_and_location, visitor, f"/{link['shortCode']}")
    assert across(lambda: change(api, link), follow) == (FOLLOWED, after)


def test_moving_a_code_to_another_link(
    api: APIClient, make_link: Callable[..., dict[str, Any]], visitor: Client
) -> None:
    link = make_link(URL)
    follow = partial(status_and_location, visitor, "/spring")
    change = partial(api.put, f"/api/urls/{link['_id']}", {"customCode": "spring"})
    assert across(change, follow) == (UNKNOWN, FOLLOWED)


@pytest.fixture
def brand(alice: NewAccount) -> Domain:
    return custom_domain(alice)


def test_changing_the_not_found_url(api: APIClient, brand: Domain, visitor: Client) -> None:
    follow = partial(status_and_location, visitor, "/nothing", CUSTOM_HOST)
    change = partial(api.patch, f"/api/domains/{brand.public_id}", {"notFoundUrl": URL})
    assert across(change, follow) == (UNKNOWN, FOLLOWED)


def test_deleting_a_domain(
    api: APIClient, make_link: Callable[..., dict[str, Any]], brand: Domain, visitor: Client
) -> None:
    link = make_link(URL, domainId=str(brand.public_id))
    follow = partial(status_and_location, visitor, f"/{link['shortCode']}", CUSTOM_HOST)
    follow_on_default_domain = partial(status_and_location, visitor, f"/{link['shortCode']}")
    assert follow_on_default_domain() == UNKNOWN
    assert across(partial(api.delete, f"/api/domains/{brand.public_id}"), follow) == (FOLLOWED, UNKNOWN)
    assert follow_on_default_domain() == FOLLOWED


def test_banning_a_host_and_lifting_the_ban(
    operator: Operator, make_link: Callable[..., dict[str, Any]], visitor: Client
) -> None:
    link = make_link(URL)
    follow = partial(status_and_location, visitor, f"/{link['shortCode']}")
    fields = {"host": "example.com", "owner": "", "reason": "", "confirmed": "example.com"}
    ban = partial(operator.send, "bans/ban/add/", **fields)
    assert across(ban, follow) == (FOLLOWED, OFF)
    [banned] = operator.rows("bans/ban/")
    lift = partial(operator.send, f"bans/ban/{banned.pk}/delete/", post="yes")
    assert across(lift, follow) == (OFF, FOLLOWED)
