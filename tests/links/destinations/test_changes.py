"""Notifications of changes, whichever client makes them."""

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
from links.code_claims import delete_expired_holds
from links.destinations.invalidation_listener import CHANNEL
from links.models import Code
from testing.redirects.following import CUSTOM_HOST, custom_domain

pytestmark = pytest.mark.django_db(transaction=True)
MakeLink = Callable[..., dict[str, Any]]
SentSince = Callable[[], set[str]]


@pytest.fixture
def sent(db: None) -> Iterator[SentSince]:
    """The notifications since the previous call."""
    parameters = connection.get_connection_params()
    with psycopg.connect(**parameters, autocommit=True) as listener:
        listener.execute(f"LISTEN {CHANNEL}")

        def since() -> set[str]:
            listener.execute("SELECT")
            return {notification.payload for notification in listener.notifies(timeout=0)}

        yield since


def test_a_new_link_sends_no_notification(sent: SentSince, make_link: MakeLink) -> None:
    make_link(customCode="spring")

    assert sent() == set()


def test_a_changed_link_notifies_all_its_codes(sent: SentSince, api: APIClient, make_link: MakeLink) -> None:
    link = make_link(customCode="spring")
    assert api.put(f"/api/urls/{link['_id']}", {"customCode": "summer"}).status_code == 200
    codes = {f"code {link['shortCode']}", "code spring", "code summer"}
    assert sent() == codes

    assert api.put(f"/api/urls/{link['_id']}", {"isActive": False}).status_code == 200

    assert sent() == codes


def test_a_refused_change_sends_no_notification(sent: SentSince, api: APIClient, make_link: MakeLink) -> None:
    link, other = make_link(), make_link(customCode="spring")
    sent()

    assert api.put(f"/api/urls/{link['_id']}", {"customCode": "spring"}).status_code == 409

    assert sent() == set()
    assert other["customCode"] == "spring"


def test_a_deletion_sends_a_notification_but_the_end_of_its_hold_does_not(
    sent: SentSince, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(customCode="spring")
    assert api.delete(f"/api/urls/{link['_id']}").status_code == 200
    assert sent() == {f"code {link['shortCode']}", "code spring"}
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_code SET held_until = now() - interval '1 day'")
    sent()

    assert delete_expired_holds() == 2

    assert sent() == set()


def test_changed_and_deleted_domains_send_notifications(
    sent: SentSince, alice: NewAccount, make_link: MakeLink
) -> None:
    domain = custom_domain(alice)
    link = make_link(domainId=str(domain.public_id))
    assert sent() == set()
    domain.status = DomainStatus.INACTIVE
    domain.save()
    assert sent() == {f"host {CUSTOM_HOST}"}

    delete_domain(owner=alice.workspace, public_id=str(domain.public_id))

    assert sent() == {f"host {CUSTOM_HOST}", f"code {link['shortCode']}"}


def test_deleting_an_account_invalidates_its_links_everywhere(
    sent: SentSince, alice: NewAccount, make_link: MakeLink
) -> None:
    link = make_link()

    alice.user.delete()

    assert f"code {link['shortCode']}" in sent()
    assert not Code.objects.exists()


def test_many_changes_send_one_notification(sent: SentSince, alice: NewAccount, make_link: MakeLink) -> None:
    for _ in range(251):
        make_link(customCode=None)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET is_active = false")
        assert len(sent()) == 251
        cursor.execute("""
            INSERT INTO links_code (domain_id, code, kind, link_id)
            SELECT NULL, 'a' || code, 'alias', link_id FROM links_code
        """)
        cursor.execute("UPDATE links_link SET is_active = true")

    assert sent() == {"*"}
