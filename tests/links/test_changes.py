"""What the database tells everybody who listens, whoever makes a change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import DomainStatus
from domains.services import delete_domain
from links.changes import CHANNEL
from links.models import Code
from links.namespace import forget_lapsed_holds
from tests.redirects.test_follow import CUSTOM_HOST, custom_domain

pytestmark = pytest.mark.django_db(transaction=True)
MakeLink = Callable[..., dict[str, Any]]
Told = Callable[[], set[str]]


@pytest.fixture
def told(db: None) -> Iterator[Told]:
    """What has been told since it was last asked."""
    parameters = connection.get_connection_params()
    with psycopg.connect(**parameters, autocommit=True) as listener:
        listener.execute(f"LISTEN {CHANNEL}")

        def since() -> set[str]:
            listener.execute("SELECT")
            return {notification.payload for notification in listener.notifies(timeout=0)}

        yield since


def test_a_new_link_is_told_to_nobody(told: Told, make_link: MakeLink) -> None:
    make_link(customCode="spring")

    assert told() == set()


def test_a_changed_link_is_told_by_all_its_codes(told: Told, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(customCode="spring")
    assert api.put(f"/api/urls/{link['_id']}", {"customCode": "summer"}).status_code == 200
    codes = {f"code {link['shortCode']}", "code spring", "code summer"}
    assert told() == codes

    assert api.put(f"/api/urls/{link['_id']}", {"isActive": False}).status_code == 200

    assert told() == codes


def test_a_change_that_is_refused_is_not_told(told: Told, api: APIClient, make_link: MakeLink) -> None:
    link, other = make_link(), make_link(customCode="spring")
    told()

    assert api.put(f"/api/urls/{link['_id']}", {"customCode": "spring"}).status_code == 409

    assert told() == set()
    assert other["customCode"] == "spring"


def test_a_deleted_link_is_told_and_the_end_of_its_hold_is_not(
    told: Told, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    assert told() == {f"code {link['shortCode']}", "code spring"}
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_code SET held_until = now() - interval '1 day'")
    told()

    assert forget_lapsed_holds() == 2

    assert told() == set()


def test_a_changed_and_a_deleted_domain_are_told(told: Told, alice: NewAccount, make_link: MakeLink) -> None:
    domain = custom_domain(alice)
    link = make_link(domainId=str(domain.public_id))
    assert told() == set()
    domain.status = DomainStatus.INACTIVE
    domain.save()
    assert told() == {f"host {CUSTOM_HOST}"}

    delete_domain(owner=alice.user, public_id=str(domain.public_id))

    assert told() == {f"host {CUSTOM_HOST}", f"code {link['shortCode']}"}


def test_an_account_that_goes_takes_its_links_out_of_every_memory(
    told: Told, alice: NewAccount, make_link: MakeLink
) -> None:
    link = make_link()

    alice.user.delete()

    assert f"code {link['shortCode']}" in told()
    assert not Code.objects.exists()


def test_very_many_changes_at_once_are_told_as_one(
    told: Told, alice: NewAccount, make_link: MakeLink
) -> None:
    for _ in range(251):
        make_link(customCode=None)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET is_active = false")
        assert len(told()) == 251
        cursor.execute("""
            INSERT INTO links_code (domain_id, code, kind, link_id)
            SELECT NULL, 'a' || code, 'alias', link_id FROM links_code
        """)
        cursor.execute("UPDATE links_link SET is_active = true")

    assert told() == {"*"}
