"""The codes of deleted links are held for their owner."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains.models import Domain
from links.code_claims import own_codes
from testing.links.calls import rename
from tests.links.codes.claims import brand as brand
from tests.links.codes.claims import (
    codes,
    create,
    created,
    days_pass,
    delete,
    destination_of,
    is_taken,
    renamed,
)

# A taken code makes a statement fail, which would break the transaction of an ordinary test.
pytestmark = pytest.mark.django_db(transaction=True)


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
