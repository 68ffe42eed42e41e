from __future__ import annotations

from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Code, Link
from testing.links.calls import rename
from testing.links.drawn_codes import draw_codes
from testing.threads import at_once
from tests.links.codes.claims import URL, codes, create, created, days_pass, delete, destination_of, is_taken
from tests.links.codes.claims import brand as brand

ROUNDS = 20
# A taken code makes a statement fail, which would break the transaction of an ordinary test.
pytestmark = pytest.mark.django_db(transaction=True)


# One namespace per domain


def test_the_database_keeps_one_code_for_one_domain(alice: NewAccount, api: APIClient, brand: Domain) -> None:
    link = created(api, "spring")
    row = Link.objects.get(public_id=link["_id"])
    for kind in ("short", "custom", "alias", "reserved"):
        for code in ("spring", link["shortCode"]):
            with pytest.raises(IntegrityError, match="code_unique"), transaction.atomic():
                Code.objects.create(domain=None, code=code, kind=kind, link=row)
    Code.objects.create(domain=brand, code="spring", kind="custom", link=row)
    with pytest.raises(IntegrityError, match="code_unique"), transaction.atomic():
        Code.objects.create(domain=brand, code="spring", kind="custom", link=row)


@pytest.mark.parametrize(
    ("kind", "linked", "held"),
    [
        ("retired", True, True),
        ("retired", True, False),
        ("retired", False, False),
        ("short", False, False),
        ("custom", False, True),
        ("alias", True, True),
    ],
)
def test_the_database_requires_a_code_to_be_either_held_or_linked(
    api: APIClient, kind: str, linked: bool, held: bool
) -> None:
    row = Link.objects.get(public_id=created(api)["_id"])
    with pytest.raises(IntegrityError, match="code_held_or_linked"), transaction.atomic():
        Code.objects.create(
            code="spring",
            kind=kind,
            link=row if linked else None,
            held_until="2030-01-01T00:00Z" if held else None,
        )


def test_a_new_link_claims_its_short_and_custom_codes(api: APIClient) -> None:
    link = created(api, "spring")
    assert codes() == [(None, link["shortCode"], "short", True), (None, "spring", "custom", True)]


def test_a_link_on_a_domain_reserves_its_short_code_on_the_default_domain(
    api: APIClient, strange_api: APIClient, brand: Domain, visitor: Client
) -> None:
    link = created(api, "spring", domainId=str(brand.public_id))
    assert codes() == [
        ("brand.example", link["shortCode"], "short", True),
        ("brand.example", "spring", "custom", True),
        (None, link["shortCode"], "reserved", True),
    ]
    assert is_taken(create(strange_api, link["shortCode"]), link["shortCode"])
    assert is_taken(create(api, link["shortCode"]), link["shortCode"])
    # A reserved code does not redirect: the link works on its own host only.
    assert destination_of(visitor, link["shortCode"]) is None
    assert destination_of(visitor, link["shortCode"], "brand.example") == URL
    assert destination_of(visitor, "spring", "brand.example") == URL
    assert destination_of(visitor, "spring") is None


def test_a_custom_code_is_free_on_another_domain(
    api: APIClient, strange_api: APIClient, brand: Domain, visitor: Client
) -> None:
    created(strange_api, "spring", originalUrl="https://example.com/base")
    created(api, "spring", domainId=str(brand.public_id), originalUrl="https://example.com/brand")
    assert destination_of(visitor, "spring") == "https://example.com/base"
    assert destination_of(visitor, "spring", "brand.example") == "https://example.com/brand"
    assert is_taken(create(api, "spring", domainId=str(brand.public_id)), "spring")


@pytest.mark.parametrize("taker", ["api", "strange_api"])
def test_a_custom_code_cannot_be_the_short_code_of_another_link(
    request: pytest.FixtureRequest, api: APIClient, taker: str
) -> None:
    client = request.getfixturevalue(taker)
    code = created(api)["shortCode"]
    before = codes()
    assert is_taken(create(client, code), code)
    assert codes() == before
    own = created(client)
    assert is_taken(rename(client, own, code), code)


def test_a_taken_short_code_is_generated_again(
    api: APIClient, strange_api: APIClient, brand: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    custom = created(strange_api, "Taken01")
    on_domain = created(api, domainId=str(brand.public_id))["shortCode"]
    retired = created(strange_api)
    delete(strange_api, retired)
    taken = ("Taken01", custom["shortCode"], on_domain, retired["shortCode"])
    draw_codes(monkeypatch, *taken, "Fresh01", "Taken01", "Fresh02")
    assert created(api, "spring")["shortCode"] == "Fresh01"
    assert created(api, domainId=str(brand.public_id))["shortCode"] == "Fresh02"
    assert Link.objects.count() == 4


def test_a_short_code_equal_to_the_custom_code_is_generated_again(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_codes(monkeypatch, "Same001", "Fresh01")
    link = created(api, "Same001")
    assert (link["customCode"], link["shortCode"]) == ("Same001", "Fresh01")


# Concurrency


def test_one_of_two_concurrent_creates_gets_the_code(api: APIClient, strange_api: APIClient) -> None:
    for turn in range(ROUNDS):
        code = f"race{turn}"
        responses = at_once([partial(create, client, code) for client in (api, strange_api)])
        assert sorted(response.status_code for response in responses) == [201, 409], turn
        assert is_taken(max(responses, key=lambda response: response.status_code), code)
    assert Link.objects.count() == ROUNDS
    assert len(codes()) == 2 * ROUNDS


@pytest.mark.slow
def test_one_of_two_concurrent_creates_of_one_account_gets_the_code(api: APIClient) -> None:
    for turn in range(ROUNDS):
        responses = at_once([partial(create, api, f"race{turn}")] * 4)
        assert sorted(response.status_code for response in responses) == [201, 409, 409, 409], turn
    assert Link.objects.count() == ROUNDS


def test_one_of_two_concurrent_renames_gets_the_code(api: APIClient, strange_api: APIClient) -> None:
    pairs = [(api, created(api)), (strange_api, created(strange_api))]
    for turn in range(ROUNDS):
        code = f"race{turn}"
        responses = at_once([partial(rename, client, link, code) for client, link in pairs])
        assert sorted(response.status_code for response in responses) == [200, 409], turn
        assert Code.objects.filter(code=code).count() == 1


def test_either_a_create_or_a_concurrent_rename_gets_the_code(api: APIClient, strange_api: APIClient) -> None:
    link = created(api)
    for turn in range(ROUNDS):
        code = f"race{turn}"
        creation, renamed = at_once([partial(create, strange_api, code), partial(rename, api, link, code)])
        assert (creation.status_code, renamed.status_code) in [(201, 409), (409, 200)], turn
        assert Code.objects.filter(code=code).count() == 1


@pytest.mark.slow
def test_one_of_two_concurrent_creates_gets_a_held_code(api: APIClient, strange_api: APIClient) -> None:
    for turn in range(ROUNDS):
        delete(api, created(api, f"race{turn}"))
    days_pass(30)
    for turn in range(ROUNDS):
        code = f"race{turn}"
        responses = at_once([partial(create, client, code) for client in (api, strange_api)])
        assert sorted(response.status_code for response in responses) == [201, 409], turn


def test_swapping_the_codes_of_two_links_is_refused(api: APIClient, strange_api: APIClient) -> None:
    first, second = created(api, "one"), created(strange_api, "other")
    for turn in range(ROUNDS):
        responses = at_once(
            [partial(rename, api, first, "other"), partial(rename, strange_api, second, "one")]
        )
        assert [response.status_code for response in responses] == [409, 409], turn


def test_simultaneous_creates_without_a_code_all_succeed(api: APIClient, strange_api: APIClient) -> None:
    responses = at_once([partial(create, client) for client in (api, strange_api) for _ in range(8)])
    assert [response.status_code for response in responses] == [201] * 16
    assert api.get("/api/urls").json()["data"]["pagination"]["total"] == 8


@pytest.mark.slow
def test_a_link_deleted_while_it_is_renamed_leaves_no_code_behind(
    api: APIClient, strange_api: APIClient
) -> None:
    for turn in range(ROUNDS):
        link = created(api, f"old{turn}")
        deletion, renamed = at_once(
            [partial(api.delete, f"/api/urls/{link['_id']}"), partial(rename, api, link, f"new{turn}")]
        )
        assert deletion.status_code == 200
        assert renamed.status_code in (200, 404)
        assert is_taken(create(strange_api, f"old{turn}"), f"old{turn}")
    assert Code.objects.exclude(kind="retired").count() == 0
