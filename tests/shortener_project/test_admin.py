"""The admin as an operator uses it: found, searched, and able to switch a link off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.services import NewAccount, create_account
from tests.conftest import PASSWORD

HOST = {"host": "sho.rt"}


@pytest.fixture
def operator(db: None) -> Client:
    create_account(email="operator@example.com", password=PASSWORD, superuser=True)
    client = Client(enforce_csrf_checks=True, headers=HOST)
    client.get("/admin/login/")
    answer = client.post(
        "/admin/login/?next=/admin/",
        {
            "username": "operator@example.com",
            "password": PASSWORD,
            "csrfmiddlewaretoken": client.cookies["csrftoken"].value,
        },
    )
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    return client


def test_somebody_who_is_not_staff_sees_only_the_login(alice: NewAccount) -> None:
    client = Client(headers=HOST)
    client.force_login(alice.user)

    assert client.get("/admin/")["Location"] == "/admin/login/?next=/admin/"


@pytest.mark.parametrize(
    "page", ["", "accounts/user/", "links/link/", "domains/domain/", "qrcodes/qrcode/", "accounts/user/add/"]
)
def test_every_page_opens(operator: Client, make_link: Callable[..., dict[str, Any]], page: str) -> None:
    make_link()

    assert operator.get(f"/admin/{page}").status_code == 200


def test_a_login_without_the_form_s_token_is_refused(db: None) -> None:
    client = Client(enforce_csrf_checks=True, headers=HOST)

    assert client.post("/admin/login/", {"username": "a", "password": "b"}).status_code == 403


def test_an_operator_switches_a_link_off(
    operator: Client, make_link: Callable[..., dict[str, Any]], visitor: Client
) -> None:
    link = make_link(customCode="Summer")
    found = operator.get("/admin/links/link/?q=Summer").context["cl"].result_list
    assert [each.short_code for each in found] == [link["shortCode"]]

    operator.post(
        f"/admin/links/link/{found[0].pk}/change/",
        {"csrfmiddlewaretoken": operator.cookies["csrftoken"].value},
    )

    assert visitor.get("/Summer").status_code == 410


def test_an_account_made_in_the_admin_can_log_in_over_the_api(operator: Client, anonymous: Any) -> None:
    operator.get("/admin/accounts/user/add/")
    operator.post(
        "/admin/accounts/user/add/",
        {
            "csrfmiddlewaretoken": operator.cookies["csrftoken"].value,
            "email": "New@Example.com",
            "plan": "pro",
            "usable_password": "true",
            "password1": PASSWORD,
            "password2": PASSWORD,
        },
    )

    answer = anonymous.post("/api/auth/login", {"email": "new@example.com", "password": PASSWORD})

    assert answer.status_code == 200


def test_no_page_of_the_admin_shows_a_key(operator: Client, alice: NewAccount) -> None:
    page = operator.get(f"/admin/accounts/user/{alice.user.pk}/change/").content.decode()

    assert alice.api_key not in page
