"""Items of a bulk creation that return a link that exists already: ``findIfExists``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.rights import Scope
from accounts.services import NewAccount
from domains.models import Domain
from links import existing
from links.models import Link
from testing.accounts.keys import scoped_client
from testing.links.calls import whole
from testing.links.many import create_many
from testing.threads import at_once
from tests.links.values import EVERYTHING, OTHERS

MakeLink = Callable[..., dict[str, Any]]
URL = "https://example.com/spring"


def item(**fields: Any) -> dict[str, Any]:
    return {"originalUrl": URL, "findIfExists": True, **fields}


def outcomes(client: APIClient, items: list[Any]) -> list[tuple[int, Any]]:
    """The status of each item, with the id of its link or the code of its error."""
    return [
        (result["status"], result["url"]["_id"] if result["success"] else result["code"])
        for result in create_many(client, items)
    ]


def test_items_find_links_as_single_calls_do(api: APIClient, make_link: MakeLink) -> None:
    link = make_link(originalUrl=URL, **EVERYTHING)
    Link.objects.get().counter.__class__.objects.update(clicks=7)
    found, created = create_many(api, [item(**EVERYTHING), item(title="Autumn")])
    assert (found["status"], found["url"]) == (200, {**link, "clickCount": 7})
    assert (created["status"], created["url"]["title"]) == (201, "Autumn")
    for name, other in OTHERS.items():
        Link.objects.exclude(public_id=link["_id"]).delete()
        differing = item(**{"targetUrl": EVERYTHING["targetUrl"], name: other})
        assert outcomes(api, [differing])[0][0] == 201, name
    response = api.post(
        "/api/urls/bulk", {"urls": [item(**EVERYTHING)]}, headers={"prefer": "return=representation"}
    )
    [shown] = response.json()["data"]["results"]
    assert (shown["status"], shown["url"]) == (200, whole(api, link))
    assert response.json()["message"] == "1 of 1 URLs created or found."


def test_equal_items_of_a_call_make_one_link(api: APIClient, brand: Domain) -> None:
    on_brand = {"domainId": str(brand.public_id)}
    items = [
        item(title="a", tags=["x", "Y"]),
        item(title="a", tags=["y", "X"]),
        item(title="a"),
        item(title="b"),
        item(title="b", findIfExists=False),
        item(title="b"),
        item(title="a", **on_brand),
        item(title="a", description=None),
        item(title="a", description="c"),
        {"originalUrl": "ftp://example.com/", "findIfExists": True},
        item(title="a", tags=["x", "y"], originalUrl="HTTPS://example.com:443/spring"),
        item(),
    ]
    statuses, ids = zip(*outcomes(api, items), strict=True)
    assert statuses == (201, 200, 200, 201, 201, 200, 201, 200, 201, 400, 200, 200)
    assert [ids.index(identifier) for identifier in ids] == [0, 0, 0, 3, 4, 3, 6, 0, 8, 9, 0, 0]
    assert Link.objects.count() == 5
    shown = create_many(api, [item(title="new"), item(title="new")])
    assert shown[0]["url"] == shown[1]["url"]


def test_an_item_whose_equal_is_refused_is_tried_itself(api: APIClient, make_link: MakeLink) -> None:
    make_link(originalUrl="https://example.com/other", customCode="taken")
    items = [item(title="a", customCode="taken"), item(title="a", customCode="taken"), item(title="a")]
    (first, second, third) = outcomes(api, [*items, item(title="a")])[:3]
    assert (first, second) == ((409, "code_taken"), (409, "code_taken"))
    assert third[0] == 201
    assert outcomes(api, [item(title="a")]) == [(200, third[1])]
    assert Link.objects.count() == 2


def test_found_links_use_no_quota(api: APIClient, settings: Settings, make_link: MakeLink) -> None:
    settings.LINK_QUOTAS = {"free": 3, "pro": 3, "enterprise": 3}
    link = make_link(originalUrl=URL)
    items = [item(), item(title="a"), item(title="a"), item(title="b"), item(title="c"), item()]
    statuses, ids = zip(*outcomes(api, items), strict=True)
    assert statuses == (200, 201, 200, 201, 429, 200)
    assert (ids[0], ids[4], ids[5]) == (link["_id"], "quota_exceeded", link["_id"])


def test_nobody_finds_what_they_may_not_read(
    alice: NewAccount, api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(originalUrl=URL)
    assert outcomes(strange_api, [item()])[0][0] == 201
    writer = scoped_client(alice.workspace, alice.user, Scope.URLS_WRITE)
    assert outcomes(writer, [item(), {"originalUrl": URL}])[0] == (403, "scope_required")
    only_own = scoped_client(alice.workspace, alice.user, Scope.URLS_READ, Scope.URLS_WRITE, only_own=True)
    (status, own) = outcomes(only_own, [item()])[0]
    assert (status, outcomes(only_own, [item()])) == (201, [(200, own)])
    assert outcomes(api, [item()]) == [(200, link["_id"])]
    refused = create_many(api, [item(password="open sesame")])[0]
    assert [(error["field"], error["code"]) for error in refused["errors"]] == [
        ("password", "not_comparable")
    ]


def test_the_number_of_statements_does_not_grow(api: APIClient) -> None:
    counts = []
    for number in (3, 60):
        items = [item(originalUrl=f"{URL}/{number}/{n}", title=f"{n}") for n in range(number)]
        # The first call finds nothing, and the second everything.
        for expected in (201, 200):
            with CaptureQueriesContext(connection) as captured:
                statuses = {status for status, _ in outcomes(api, items)}
            assert statuses == {expected}
            counts.append(len(captured))
    assert counts[:2] == counts[2:]


@pytest.mark.django_db(transaction=True)
def test_parallel_calls_make_one_link_of_each(api: APIClient) -> None:
    items = [item(originalUrl=f"{URL}/{number}") for number in range(30)]

    def call(order: int) -> list[tuple[int, str]]:
        return sorted(outcomes(api, items[::order]), key=lambda outcome: outcome[1])

    def single(number: int) -> tuple[int, str]:
        response = api.post("/api/urls", items[number])
        return response.status_code, response.json()["data"]["url"]["_id"]

    first, second, *others = at_once(
        [lambda: call(1), lambda: call(-1), *(lambda n=n: [single(n)] for n in (3, 17))]  # type: ignore[misc] # lambdas
    )
    everything = [*first, *second, *others[0], *others[1]]
    assert sorted(status for status, _ in everything) == [200] * 32 + [201] * 30
    assert len({identifier for _, identifier in everything}) == Link.objects.count() == 30


def test_calls_that_would_compare_too_much_are_refused(
    api: APIClient, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    for title in "abc":
        make_link(originalUrl=URL, title=title)
    monkeypatch.setattr(existing, "MAX_COMPARISONS", 6)
    elsewhere = [item(originalUrl="https://example.com/autumn")] * 5
    assert [status for status, _ in outcomes(api, [item(title="a"), item(title="b"), *elsewhere])][:2] == [
        200,
        200,
    ]
    before = Link.objects.count()
    response = api.post("/api/urls/bulk", {"urls": [item(title="new"), item(), item(title="c")]})
    assert response.status_code == 400
    assert [(error["field"], error["code"]) for error in response.json()["errors"]] == [
        ("urls", "too_many_to_compare")
    ]
    assert Link.objects.count() == before
    # One item may be compared with any number.
    monkeypatch.setattr(existing, "MAX_COMPARISONS", 1)
    assert outcomes(api, [item(title="c")])[0][0] == 200


def test_items_with_many_sets_of_fields_find_earlier_ones(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values of each item are prepared once, however many sets of columns are looked for."""
    prepared: list[str] = []
    original = existing._comparable
    monkeypatch.setattr(
        existing, "_comparable", lambda name, link: prepared.append(name) or original(name, link)
    )
    fields = {
        "title": "a",
        "description": "b",
        "redirectType": 301,
        "externalId": "x",
        "rules": EVERYTHING["rules"],
    }
    items = [item(**fields), *(item(**{name: value}) for name, value in fields.items())]
    items += [item(**{name: fields[name] for name in ("title", "rules")}), item(title="a", description="c")]
    statuses, ids = zip(*outcomes(api, items), strict=True)
    assert statuses == (201, 200, 200, 200, 200, 200, 200, 201)
    assert set(ids[:7]) == {ids[0]}
    # Once for the first item, and once for the search of each.
    assert prepared.count("rules") == 1 + 3
