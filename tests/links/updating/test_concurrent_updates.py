"""Updates of single fields, which do not lock the link first: beside others, after a failure, and their statements."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import F
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.host import cache_versions
from common.rest.fields import iso_utc
from links.code_claims import CustomCode, claim_custom_codes, turn_into_aliases
from links.models import Link
from links.services import update_link
from testing.connections import connect_elsewhere, is_a_connection_blocked
from testing.polling import eventually

MakeLink = Callable[..., dict[str, Any]]


def number_of(code: str) -> int:
    return cache_versions.counters()[cache_versions.counter_of_code(code)]


def rename_as_another_host(link: Link, code: str) -> None:
    """Renews no counter of this host."""
    assert link.custom_code is not None
    assert claim_custom_codes([CustomCode(None, code, link.pk)], owner_id=link.owner_id)
    turn_into_aliases([CustomCode(None, link.custom_code, link.pk)])
    Link.objects.filter(pk=link.pk).update(custom_code=code)


@pytest.mark.django_db(transaction=True)
def test_an_update_that_waited_for_a_rename_invalidates_the_new_code(
    api: APIClient, make_link: MakeLink
) -> None:
    link = Link.objects.get(public_id=make_link(customCode="spring")["_id"])
    before = number_of("summer")

    def deactivate() -> int:
        try:
            return api.put(f"/api/urls/{link.public_id}", {"isActive": False}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as background:
        with transaction.atomic():
            rename_as_another_host(link, "summer")
            response = background.submit(deactivate)
            eventually(is_a_connection_blocked)
            assert number_of("summer") == before
        assert response.result() == 200
    assert number_of("summer") != before


@pytest.mark.django_db(transaction=True)
def test_an_update_whose_codes_cannot_be_read_changes_nothing(alice: NewAccount, make_link: MakeLink) -> None:
    link = Link.objects.get(public_id=make_link(customCode="spring")["_id"])
    before = number_of("spring")
    with connect_elsewhere() as operator, operator.transaction():
        operator.execute("LOCK TABLE links_code")
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '10ms'")
        # Before the triggers, which read the codes, too.
        with pytest.raises(OperationalError, match="links_codes_of"):
            update_link(owner=alice.workspace, public_id=str(link.public_id), changes={"is_active": False})
    connection.close()

    assert Link.objects.get(pk=link.pk).updated_at == link.updated_at
    assert number_of("spring") == before
    update_link(owner=alice.workspace, public_id=str(link.public_id), changes={"is_active": False})
    assert Link.objects.get(pk=link.pk).is_active is False
    assert number_of("spring") != before


def test_updated_at_always_increases(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    # As by an update of a later time, for whose commit this one waited.
    Link.objects.update(updated_at=F("updated_at") + timedelta(hours=1))
    later = Link.objects.get().updated_at
    response = api.put(f"/api/urls/{link['_id']}", {"title": "new"})
    expected = later + timedelta(microseconds=1)
    assert response.json()["data"]["url"]["updatedAt"] == iso_utc(expected)


@pytest.mark.parametrize(
    ("changes", "prepared"),
    [({"restrictions": {"maxClicks": 3}}, 1), ({"tags": ["a"]}, 1), ({"title": "a", "tags": ["a"]}, 0)],
    ids=["several columns", "two columns", "two fields"],
)
def test_only_updates_of_one_field_are_prepared(
    api: APIClient, make_link: MakeLink, changes: dict[str, Any], prepared: int
) -> None:
    link = make_link()
    with connection.cursor() as cursor:
        # This connection may have run other tests.
        cursor.execute("DEALLOCATE ALL")
    assert api.put(f"/api/urls/{link['_id']}", changes).status_code == 200
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%UPDATE links_link SET%%'"
        )
        assert cursor.fetchone() == (prepared,)
