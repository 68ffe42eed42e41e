from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain
from links import services
from links.codes.format import generate_code
from links.codes.namespace import own_codes
from links.models import Code, Link
from testing.threads import at_once

URL = "https://example.com/page"
ROUNDS = 20

# A taken code makes a statement fail, which would break the transaction of an ordinary test.
pytestmark = pytest.mark.django_db(transaction=True)


def create(client: APIClient, code: str | None = None, **fields: Any) -> HttpResponse:
    return client.post("/api/urls", {"originalUrl": URL, "customCode": code, **fields})


def created(client: APIClient, code: str | None = None, **fields: Any) -> dict[str, Any]:
    response = create(client, code, **fields)
    assert response.status_code == 201, response.content
    return response.json()["data"]["url"]


def rename(client: APIClient, link: dict[str, Any], code: str | None) -> HttpResponse:
    return client.put(f"/api/urls/{link['_id']}", {"customCode": code})


def renamed(client: APIClient, link: dict[str, Any], code: str | None) -> None:
    response = rename(client, link, code)
    assert response.status_code == 200, response.content
    assert response.json()["data"]["url"]["customCode"] == code
    short_url = f"http://sho.rt/{code or link['shortCode']}"
    assert response.json()["data"]["url"]["shortUrl"] == short_url


def is_taken(response: HttpResponse, code: str) -> bool:
    return response.status_code == 409 and response.json() == {
        "success": False,
        "message": f"The code {code} is already in use.",
        "code": "code_taken",
    }


def delete(client: APIClient, link: dict[str, Any]) -> None:
    assert client.delete(f"/api/urls/{link['_id']}").status_code == 200


def codes() -> list[tuple[str | None, str, str, bool]]:
    """Every taken code: host, code, kind and whether it has a link."""
    rows = Code.objects.order_by("id").values_list("domain__host", "code", "kind", "link_id")
    return [(host, code, kind, link is not None) for host, code, kind, link in rows]


def destination_of(visitor: Client, code: str, host: str = "sho.rt") -> str | None:
    return visitor.get(f"/{code}", headers={"host": host}).headers.get("Location")


def days_pass(days: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE links_code SET held_until = held_until - %s * interval '1 day' WHERE kind = 'retired'",
            [days],
        )


@pytest.fixture
def brand(alice: NewAccount) -> Domain:
    return Domain.objects.create(
        owner=alice.workspace, domain="brand.example", host="brand.example", status="active"
    )


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
    draws = iter(
        ["Taken01", custom["shortCode"], on_domain, retired["shortCode"], "Fresh01", "Taken01", "Fresh02"]
    )
    monkeypatch.setattr("links.services.generate_code", lambda: next(draws))
    assert created(api, "spring")["shortCode"] == "Fresh01"
    assert created(api, domainId=str(brand.public_id))["shortCode"] == "Fresh02"
    assert Link.objects.count() == 4


def test_a_short_code_equal_to_the_custom_code_is_generated_again(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = iter(["Same001", "Fresh01"])
    monkeypatch.setattr("links.services.generate_code", lambda: next(draws))
    link = created(api, "Same001")
    assert (link["customCode"], link["shortCode"]) == ("Same001", "Fresh01")


def test_short_codes_come_from_the_code_generator() -> None:
    assert services.generate_code is generate_code


# Deleted links


@pytest.mark.parametrize("which", ["shortCode", "customCode", "alias"])
def test_a_deleted_links_codes_are_held_for_thirty_days(
    api: APIClient, strange_api: APIClient, visitor: Client, which: str
) -> None:
    link = created(api, "before")
    renamed(api, link, "spring")
    code = {"shortCode": link["shortCode"], "customCode": "spring", "alias": "before"}[which]
    delete(api, link)
    assert codes() == [
        (None, link["shortCode"], "retired", False),
        (None, "before", "retired", False),
        (None, "spring", "retired", False),
    ]
    assert visitor.get(f"/{code}").status_code == 404
    assert is_taken(create(strange_api, code), code)
    own = created(strange_api)
    assert is_taken(rename(strange_api, own, code), code)
    days_pass(29)
    assert is_taken(create(strange_api, code), code)
    days_pass(1)
    created(strange_api, code, originalUrl="https://example.com/next")
    assert destination_of(visitor, code) == "https://example.com/next"


def test_a_rename_can_claim_a_code_after_its_hold_has_expired(api: APIClient, strange_api: APIClient) -> None:
    delete(api, created(api, "spring"))
    link = created(strange_api)
    assert is_taken(rename(strange_api, link, "spring"), "spring")
    days_pass(30)
    renamed(strange_api, link, "spring")


@pytest.mark.parametrize("how", ["create", "rename"])
def test_the_former_owner_can_reuse_a_held_code_immediately(
    api: APIClient, strange_api: APIClient, visitor: Client, how: str
) -> None:
    link = created(api, "spring")
    delete(api, link)
    for code in ("spring", link["shortCode"]):
        if how == "create":
            created(api, code, originalUrl="https://example.com/again")
        else:
            renamed(api, created(api, originalUrl="https://example.com/again"), code)
        assert destination_of(visitor, code) == "https://example.com/again"
        assert is_taken(create(strange_api, code), code)


def test_the_hold_counts_from_the_deletion(api: APIClient) -> None:
    delete(api, created(api, "spring"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT held_until - now() FROM links_code")
        [(left,)] = cursor.fetchall()
    assert 29.99 < left.total_seconds() / 86_400 <= 30


def test_codes_of_a_deleted_link_are_held_on_its_and_the_default_domain(
    api: APIClient, strange_api: APIClient, brand: Domain
) -> None:
    link = created(api, "spring", domainId=str(brand.public_id))
    delete(api, link)
    assert codes() == [
        ("brand.example", link["shortCode"], "retired", False),
        ("brand.example", "spring", "retired", False),
        (None, link["shortCode"], "retired", False),
    ]
    assert is_taken(create(strange_api, link["shortCode"]), link["shortCode"])
    created(api, "spring", domainId=str(brand.public_id))


def test_a_refused_create_keeps_the_hold(api: APIClient, strange_api: APIClient) -> None:
    delete(api, created(api, "spring"))
    loop = create(api, "spring", originalUrl="http://sho.rt/spring")
    assert loop.status_code == 400
    assert is_taken(create(strange_api, "spring"), "spring")


def test_a_hold_outlives_the_account(api: APIClient, alice: NewAccount, strange_api: APIClient) -> None:
    delete(api, created(api, "spring"))
    User.objects.get(pk=alice.user.pk).delete()
    assert is_taken(create(strange_api, "spring"), "spring")
    days_pass(30)
    created(strange_api, "spring")


def test_own_codes_are_those_of_links_and_holds_on_the_default_and_own_domains(
    api: APIClient, strange_api: APIClient, alice: NewAccount, brand: Domain
) -> None:
    created(api, "default1")
    created(api, "branded1", domainId=str(brand.public_id))
    delete(api, created(api, "deleted1"))
    delete(api, created(api, "deleted2", domainId=str(brand.public_id)))
    created(strange_api, "strange1")
    delete(strange_api, created(strange_api, "strange2"))

    codes = ["default1", "branded1", "deleted1", "deleted2", "strange1", "strange2", "unknown1"]
    assert own_codes(codes, owner_id=alice.user.pk) == {"default1", "branded1", "deleted1", "deleted2"}


# Renames


def test_a_rename_keeps_the_old_code_as_an_alias(
    api: APIClient, strange_api: APIClient, visitor: Client
) -> None:
    link = created(api, "first")
    renamed(api, link, "second")
    renamed(api, link, "third")
    assert codes() == [
        (None, link["shortCode"], "short", True),
        (None, "first", "alias", True),
        (None, "second", "alias", True),
        (None, "third", "custom", True),
    ]
    for code in ("first", "second", "third", link["shortCode"]):
        assert destination_of(visitor, code) == URL
        assert is_taken(create(strange_api, code), code)


def test_renaming_back_reuses_the_alias(api: APIClient, visitor: Client) -> None:
    link = created(api, "first")
    renamed(api, link, "second")
    renamed(api, link, "first")
    assert codes() == [
        (None, link["shortCode"], "short", True),
        (None, "first", "custom", True),
        (None, "second", "alias", True),
    ]
    assert destination_of(visitor, "first") == destination_of(visitor, "second") == URL


def test_a_custom_code_can_equal_the_links_own_short_code(api: APIClient, visitor: Client) -> None:
    link = created(api, "first")
    renamed(api, link, link["shortCode"])
    assert codes() == [(None, link["shortCode"], "short", True), (None, "first", "alias", True)]
    renamed(api, link, "second")
    assert codes() == [
        (None, link["shortCode"], "short", True),
        (None, "first", "alias", True),
        (None, "second", "custom", True),
    ]
    for code in ("first", "second", link["shortCode"]):
        assert destination_of(visitor, code) == URL


@pytest.mark.parametrize("renamer", ["owner", "stranger"])
@pytest.mark.parametrize("which", ["custom", "alias", "short", "reserved"])
def test_a_rename_to_a_code_of_another_link_is_refused(
    api: APIClient, strange_api: APIClient, brand: Domain, renamer: str, which: str
) -> None:
    client = api if renamer == "owner" else strange_api
    other = created(api, "first")
    renamed(api, other, "second")
    on_domain = created(api, domainId=str(brand.public_id))
    code = {
        "custom": "second",
        "alias": "first",
        "short": other["shortCode"],
        "reserved": on_domain["shortCode"],
    }[which]
    link = created(client, "mine")
    before = codes()
    assert is_taken(rename(client, link, code), code)
    assert codes() == before
    read = client.get(f"/api/urls/{link['_id']}").json()["data"]["url"]
    assert (read["customCode"], read["updatedAt"]) == ("mine", read["createdAt"])


def test_a_link_without_a_custom_code_can_be_given_one(api: APIClient, visitor: Client) -> None:
    link = created(api)
    renamed(api, link, "spring")
    assert codes() == [(None, link["shortCode"], "short", True), (None, "spring", "custom", True)]
    assert destination_of(visitor, "spring") == URL


def test_clearing_a_custom_code_keeps_it_as_an_alias(
    api: APIClient, strange_api: APIClient, visitor: Client
) -> None:
    link = created(api, "spring")
    renamed(api, link, None)
    assert codes() == [(None, link["shortCode"], "short", True), (None, "spring", "alias", True)]
    assert destination_of(visitor, "spring") == destination_of(visitor, link["shortCode"]) == URL
    assert is_taken(create(strange_api, "spring"), "spring")
    renamed(api, link, None)
    renamed(api, link, "spring")


def test_sending_the_same_code_again_changes_no_code(api: APIClient) -> None:
    link = created(api, "spring")
    before = codes()
    renamed(api, link, "spring")
    assert codes() == before


def test_a_rename_on_a_domain_stays_on_it(
    api: APIClient, strange_api: APIClient, brand: Domain, visitor: Client
) -> None:
    created(strange_api, "second")
    link = created(api, "first", domainId=str(brand.public_id))
    response = rename(api, link, "second")
    assert response.status_code == 200
    assert response.json()["data"]["url"]["shortUrl"] == "https://brand.example/second"
    for code in ("first", "second"):
        assert destination_of(visitor, code, "brand.example") == URL
    assert destination_of(visitor, "first") is None


def test_a_rename_to_a_reserved_word_is_refused(api: APIClient) -> None:
    link = created(api, "first")
    before = codes()
    response = rename(api, link, "Admin")
    assert (response.status_code, response.json()["code"]) == (409, "code_reserved")
    assert codes() == before


def test_a_refused_rename_changes_no_other_field(api: APIClient, strange_api: APIClient) -> None:
    created(strange_api, "taken")
    link = created(api, "mine", title="before")
    before = api.get(f"/api/urls/{link['_id']}").json()
    response = api.put(
        f"/api/urls/{link['_id']}", {"customCode": "taken", "title": "after", "isActive": False}
    )
    assert response.status_code == 409
    assert api.get(f"/api/urls/{link['_id']}").json() == before


# Concurrency


def test_one_of_two_concurrent_creates_gets_the_code(api: APIClient, strange_api: APIClient) -> None:
    for turn in range(ROUNDS):
        code = f"race{turn}"
        responses = at_once([partial(create, client, code) for client in (api, strange_api)])
        assert sorted(response.status_code for response in responses) == [201, 409], turn
        assert is_taken(max(responses, key=lambda response: response.status_code), code)
    assert Link.objects.count() == ROUNDS
    assert len(codes()) == 2 * ROUNDS


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
