"""The pages under /accounts/: login, logout and passwords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session as PageSession
from pytest_django import Settings

from accounts.models import Change, EndReason, Session, User
from accounts.services import NewAccount, set_active
from testing.accounts.accounts import PASSWORD, bearer_client
from testing.pages.html import parse
from testing.sign_in.pages import logged_in, strict_browser
from tests.sign_in.login_pages import NEW, change, log_in, submit

pytestmark = pytest.mark.django_db


def test_login_and_logout(alice: NewAccount) -> None:
    client = strict_browser()
    assert client.get("/accounts/")["Location"] == "/accounts/login/?next=/accounts/"
    response = log_in(client)
    assert (response.status_code, response["Location"]) == (302, "/dashboard/overview")
    assert "alice@example.com" in client.get("/accounts/").content.decode()
    assert submit(client, "logout/").status_code == 302
    assert not logged_in(client)
    assert PageSession.objects.count() == 0


def test_a_get_request_does_not_log_out(alice: NewAccount) -> None:
    client = strict_browser()
    log_in(client)
    assert client.get("/accounts/logout/").status_code == 200
    assert logged_in(client)


def test_a_disabled_account_gets_the_answer_to_a_wrong_password(alice: NewAccount) -> None:
    wrong = parse(log_in(strict_browser(), password="wrong")).texts
    set_active(user=alice.user, is_active=False)
    assert parse(log_in(strict_browser())).texts == wrong
    assert parse(log_in(strict_browser(), "nobody@example.com")).texts == wrong


def test_a_request_for_a_short_link_or_the_api_has_no_session(
    alice: NewAccount, make_link: Callable[..., dict[str, Any]]
) -> None:
    client = strict_browser()
    log_in(client)
    response = client.get(f"/{make_link()['shortCode']}")
    assert not hasattr(response.wsgi_request, "session")
    assert not hasattr(client.get("/api/auth/me").wsgi_request, "allauth")


# Changing the password


def test_a_change_of_password_keeps_this_session_and_ends_all_others(alice: NewAccount) -> None:
    here, other, api = strict_browser(), strict_browser(), bearer_client(alice.user)
    log_in(here)
    log_in(other)
    assert api.get("/api/auth/me").status_code == 200

    assert change(here).status_code == 302

    assert (logged_in(here), logged_in(other)) == (True, False)
    assert api.get("/api/auth/me").status_code == 401
    ended = Session.objects.exclude(ended_at=None)
    assert set(ended.values_list("end_reason", flat=True)) == {EndReason.PASSWORD}
    assert (ended.count(), Session.objects.count()) == (2, 3)
    assert log_in(strict_browser(), password=NEW).status_code == 302
    assert log_in(strict_browser()).status_code == 200


@pytest.mark.parametrize("fields", [{"old": "wrong"}, {"again": "other"}, {"new": "short", "again": "short"}])
def test_an_invalid_change_of_password_changes_nothing(fields: dict[str, str], alice: NewAccount) -> None:
    client = strict_browser()
    log_in(client)
    assert change(client, **fields).status_code == 200
    alice.user.refresh_from_db()
    assert alice.user.check_password(PASSWORD)


def test_a_password_is_no_longer_than_the_api_takes(alice: NewAccount) -> None:
    client = strict_browser()
    log_in(client)
    for characters, status in ((129, 200), (128, 302)):
        new = "x2 " * 42 + "x" * (characters - 126)
        assert change(client, new=new, again=new).status_code == status
    body = {"email": "alice@example.com", "password": new}
    assert strict_browser().post("/api/auth/login", body, "application/json").status_code == 200


def test_the_history_names_the_person_who_changed_the_password(alice: NewAccount) -> None:
    client = strict_browser()
    log_in(client)
    response = change(client)
    recorded = Change.objects.get(action="account.updated", via="page")
    assert (recorded.actor, recorded.after) == (alice.user, {"password": "set"})
    assert recorded.request_id == response["X-Request-ID"]


def test_the_admin_s_page_for_passwords_is_that_of_accounts(alice: NewAccount) -> None:
    """Django's own counts no wrong passwords."""
    User.objects.update(is_staff=True, is_superuser=True)
    client = strict_browser()
    log_in(client)
    assert client.get("/admin/password_change/")["Location"] == "/accounts/password/change/"
    sent = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    submit(client, "../admin/password_change/", **sent)
    alice.user.refresh_from_db()
    assert alice.user.check_password(PASSWORD)


def test_wrong_current_passwords_count_as_failed_logins(alice: NewAccount) -> None:
    client = strict_browser()
    log_in(client)
    assert [change(client, old="wrong").status_code for _ in range(6)] == [200] * 5 + [429]
    assert log_in(strict_browser()).status_code == 429


def test_requests_of_a_network_are_limited(settings: Settings, db: None) -> None:
    settings.RATE_LIMIT_ANONYMOUS = 3
    assert [strict_browser().get("/accounts/login/").status_code for _ in range(4)] == [200] * 3 + [429]
    assert strict_browser("198.51.100.5").get("/accounts/login/").status_code == 200


def test_requests_to_the_admin_without_a_session_are_limited(settings: Settings, alice: NewAccount) -> None:
    settings.RATE_LIMIT_ANONYMOUS = 3
    client = strict_browser()
    client.cookies["__Host-session"] = client.cookies["session"] = "x" * 32
    assert [client.get("/admin/").status_code for _ in range(4)] == [302] * 3 + [429]
    assert strict_browser("198.51.100.5").get("/admin/").status_code == 302
    settings.RATE_LIMIT_ANONYMOUS = 0
    User.objects.update(is_staff=True, is_superuser=True)
    operator = strict_browser()
    log_in(operator)
    settings.RATE_LIMIT_ANONYMOUS = 3
    assert [operator.get("/admin/").status_code for _ in range(4)] == [200] * 4


def test_nobody_can_sign_up(db: None) -> None:
    assert strict_browser().get("/accounts/signup/").status_code == 200
    response = submit(strict_browser(), "signup/", email="x@example.com", password1=NEW, password2=NEW)
    assert response.status_code == 405
    assert User.objects.count() == 0


def test_a_session_in_the_database_is_sealed(alice: NewAccount) -> None:
    client = strict_browser()
    log_in(client)
    assert logged_in(client)
    stored = PageSession.objects.get()
    assert "_auth_user" not in stored.session_data
    PageSession.objects.update(session_data="x" * 40)
    assert not logged_in(client)


def test_a_message_signed_with_a_former_secret_is_not_shown(alice: NewAccount, settings: Settings) -> None:
    """Messages between two pages are in a signed cookie, and can have markup."""
    client = strict_browser()
    log_in(client)
    change(client)
    assert "Password successfully changed" in client.get("/accounts/").content.decode()
    log_in(client := strict_browser(), password=NEW)
    change(client, old=NEW, new=PASSWORD, again=PASSWORD)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new-" + "y" * 50, [settings.SECRET_KEY]
    assert "Password successfully changed" not in client.get("/accounts/").content.decode()


def test_a_login_leaves_no_message_for_a_later_page(alice: NewAccount) -> None:
    client = strict_browser()
    log_in(client)
    assert 'role="status"' not in client.get("/accounts/").content.decode()
