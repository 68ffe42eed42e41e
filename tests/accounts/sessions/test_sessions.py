"""Sessions of pages: what the database stores is not enough to use one."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts.models import User
from testing.accounts.accounts import PASSWORD
from testing.accounts.fixtures import operator as operator

pytestmark = pytest.mark.django_db
LOGIN = "/admin/login/?next=/admin/"


@pytest.fixture
def client(operator: User) -> Client:
    client = Client(headers={"host": "sho.rt"})
    client.force_login(operator)
    return client


def is_logged_in(client: Client) -> bool:
    response = client.get("/admin/")
    assert response.status_code == 200 or response["Location"] == LOGIN
    return response.status_code == 200


def test_the_database_contains_a_digest_instead_of_the_cookie(client: Client) -> None:
    cookie = client.cookies["sessionid"].value
    session = Session.objects.get()

    assert is_logged_in(client)
    assert session.session_key == hashlib.sha256(cookie.encode()).hexdigest()[:40]
    assert cookie not in session.session_data


def test_the_stored_digest_is_not_accepted_as_cookie(client: Client) -> None:
    client.cookies["sessionid"] = Session.objects.get().session_key

    assert not is_logged_in(client)


def test_every_login_has_a_separate_session(client: Client, operator: User) -> None:
    other = Client(headers={"host": "sho.rt"})
    response = other.post("/accounts/login/", {"login": operator.email, "password": PASSWORD})

    assert response.status_code == 302
    assert other.cookies["sessionid"].value != client.cookies["sessionid"].value
    assert (is_logged_in(client), is_logged_in(other), Session.objects.count()) == (True, True, 2)


def test_a_session_ends_with_its_logout(client: Client) -> None:
    """ASVS 7.4.1"""
    cookie = client.cookies["sessionid"].value
    assert client.post("/admin/logout/").status_code == 302

    client.cookies["sessionid"] = cookie
    assert not is_logged_in(client)
    assert Session.objects.count() == 0


@pytest.mark.parametrize("change", ["disabled", "deleted", "password", "no longer staff"])
def test_a_session_ends_with_its_account_or_password(client: Client, operator: User, change: str) -> None:
    """ASVS 7.4.1"""
    assert is_logged_in(client)
    if change == "deleted":
        operator.delete()
    elif change == "password":
        operator.set_password("another horse battery")
        operator.save()
    else:
        User.objects.update(**{"is_active" if change == "disabled" else "is_staff": False})

    assert not is_logged_in(client)


def test_a_session_expires(client: Client) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))

    assert not is_logged_in(client)
