"""The pages under /accounts/: login, logout and passwords."""

from __future__ import annotations

import re
from collections.abc import Callable
from smtplib import SMTPServerDisconnected
from typing import Any

import pytest
from django.contrib.sessions.models import Session as PageSession
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.models import Change, EndReason, Session, User
from accounts.services import NewAccount, create_account, set_active
from redirects import refusals
from testing.accounts.accounts import PASSWORD, bearer_client
from testing.pages.html import parse

pytestmark = pytest.mark.django_db
NEW = "another good password"


def browser(address: str = "203.0.113.5", **headers: str) -> Client:
    return Client(enforce_csrf_checks=True, headers={"host": "sho.rt", **headers}, REMOTE_ADDR=address)


def submit(client: Client, path: str, **fields: str) -> Any:
    if "csrftoken" not in client.cookies:
        client.get("/accounts/login/")
    return client.post(
        f"/accounts/{path}", {"csrfmiddlewaretoken": client.cookies["csrftoken"].value, **fields}
    )


def log_in(client: Client, email: str = "alice@example.com", password: str = PASSWORD) -> Any:
    return submit(client, "login/", login=email, password=password)


def logged_in(client: Client) -> bool:
    return client.get("/accounts/").status_code == 200


@pytest.fixture
def sends_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True


def test_login_and_logout(alice: NewAccount) -> None:
    client = browser()
    assert client.get("/accounts/")["Location"] == "/accounts/login/?next=/accounts/"
    response = log_in(client)
    assert (response.status_code, response["Location"]) == (302, "/dashboard/")
    assert "alice@example.com" in client.get("/accounts/").content.decode()
    assert submit(client, "logout/").status_code == 302
    assert not logged_in(client)
    assert PageSession.objects.count() == 0


def test_a_get_request_does_not_log_out(alice: NewAccount) -> None:
    client = browser()
    log_in(client)
    assert client.get("/accounts/logout/").status_code == 200
    assert logged_in(client)


def test_a_disabled_account_gets_the_answer_to_a_wrong_password(alice: NewAccount) -> None:
    wrong = parse(log_in(browser(), password="wrong")).texts
    set_active(user=alice.user, is_active=False)
    assert parse(log_in(browser())).texts == wrong
    assert parse(log_in(browser(), "nobody@example.com")).texts == wrong


def test_a_request_for_a_short_link_or_the_api_has_no_session(
    alice: NewAccount, make_link: Callable[..., dict[str, Any]]
) -> None:
    client = browser()
    log_in(client)
    response = client.get(f"/{make_link()['shortCode']}")
    assert not hasattr(response.wsgi_request, "session")
    assert not hasattr(client.get("/api/auth/me").wsgi_request, "allauth")


# Passwords


def change(client: Client, old: str = PASSWORD, new: str = NEW, again: str = NEW) -> Any:
    return submit(client, "password/change/", oldpassword=old, password1=new, password2=again)


def test_a_change_of_password_keeps_this_session_and_ends_all_others(alice: NewAccount) -> None:
    here, other, api = browser(), browser(), bearer_client(alice.user)
    log_in(here)
    log_in(other)
    assert api.get("/api/auth/me").status_code == 200

    assert change(here).status_code == 302

    assert (logged_in(here), logged_in(other)) == (True, False)
    assert api.get("/api/auth/me").status_code == 401
    ended = Session.objects.exclude(ended_at=None)
    assert set(ended.values_list("end_reason", flat=True)) == {EndReason.PASSWORD}
    assert (ended.count(), Session.objects.count()) == (2, 3)
    assert log_in(browser(), password=NEW).status_code == 302
    assert log_in(browser()).status_code == 200


@pytest.mark.parametrize("fields", [{"old": "wrong"}, {"again": "other"}, {"new": "short", "again": "short"}])
def test_an_invalid_change_of_password_changes_nothing(fields: dict[str, str], alice: NewAccount) -> None:
    client = browser()
    log_in(client)
    assert change(client, **fields).status_code == 200
    alice.user.refresh_from_db()
    assert alice.user.check_password(PASSWORD)


def test_a_password_is_no_longer_than_the_api_takes(alice: NewAccount) -> None:
    client = browser()
    log_in(client)
    for characters, status in ((129, 200), (128, 302)):
        new = "x2 " * 42 + "x" * (characters - 126)
        assert change(client, new=new, again=new).status_code == status
    body = {"email": "alice@example.com", "password": new}
    assert browser().post("/api/auth/login", body, "application/json").status_code == 200


def test_the_history_names_the_person_who_changed_the_password(alice: NewAccount) -> None:
    client = browser()
    log_in(client)
    response = change(client)
    recorded = Change.objects.get(action="account.updated", via="page")
    assert (recorded.actor, recorded.after) == (alice.user, {"password": "set"})
    assert recorded.request_id == response["X-Request-ID"]


def test_the_admin_s_page_for_passwords_is_that_of_accounts(alice: NewAccount) -> None:
    """Django's own counts no wrong passwords."""
    User.objects.update(is_staff=True, is_superuser=True)
    client = browser()
    log_in(client)
    assert client.get("/admin/password_change/")["Location"] == "/accounts/password/change/"
    sent = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    submit(client, "../admin/password_change/", **sent)
    alice.user.refresh_from_db()
    assert alice.user.check_password(PASSWORD)


def test_wrong_current_passwords_count_as_failed_logins(alice: NewAccount) -> None:
    client = browser()
    log_in(client)
    assert [change(client, old="wrong").status_code for _ in range(6)] == [200] * 5 + [429]
    assert log_in(browser()).status_code == 429


def request_reset(client: Client, email: str = "alice@example.com") -> Any:
    return submit(client, "password/reset/", email=email)


def link_in_mail() -> str:
    (message,) = mail.outbox
    found = re.search(r"https?://\S+", str(message.body))
    assert found is not None
    return found[0]


def test_a_mail_leads_to_a_new_password(sends_mail: None, alice: NewAccount) -> None:
    client, api = browser(), bearer_client(alice.user)
    assert request_reset(client)["Location"] == "/accounts/password/reset/done/"
    assert mail.outbox[0].to == ["alice@example.com"]
    link = link_in_mail()
    assert link.startswith("http://sho.rt/accounts/password/reset/key/")

    form = client.get(link.removeprefix("http://sho.rt"))
    assert form.status_code == 302
    # The page of the form has another address, without the key.
    path = form["Location"].removeprefix("/accounts/")
    response = submit(client, path, password1=NEW, password2=NEW)
    assert response["Location"] == "/accounts/password/reset/key/done/"
    assert api.get("/api/auth/me").status_code == 401
    assert log_in(browser(), password=NEW).status_code == 302

    again = browser().get(link.removeprefix("http://sho.rt"))
    assert (again.status_code, parse(again).texts["h1"].strip()) == (200, "Bad Token")


@pytest.mark.parametrize("host", ["203.0.113.66", "[2001:db8::1]:8000", "SHO.RT:8000"])
def test_the_address_in_a_mail_is_never_that_of_the_request(
    host: str, sends_mail: None, alice: NewAccount
) -> None:
    """A stranger chooses the Host header of the request that sends the mail."""
    client = browser(host=host)
    request_reset(client)
    assert link_in_mail().startswith("http://sho.rt/accounts/")
    message = mail.outbox[0]
    assert host not in f"{message.subject} {message.body} {message.from_email}"


def test_page_and_mails_do_not_reveal_who_has_an_account(sends_mail: None, alice: NewAccount) -> None:
    dormant = create_account(email="dormant@example.com", password=PASSWORD).user
    set_active(user=dormant, is_active=False)
    without_password = create_account(email="external@example.com", password=PASSWORD).user
    without_password.set_unusable_password()
    without_password.save()
    emails = ("alice@example.com", "nobody@example.com", "dormant@example.com", "external@example.com")
    responses = [request_reset(browser(), email) for email in emails]
    assert {(response.status_code, response["Location"]) for response in responses} == {
        (302, "/accounts/password/reset/done/")
    }
    assert [message.subject for message in mail.outbox] == [
        "[sho.rt] New password",
        *["[sho.rt] No account"] * 3,
    ]


def test_mails_to_one_address_are_limited(sends_mail: None, alice: NewAccount) -> None:
    addresses = [f"203.0.{number}.5" for number in range(6)]
    statuses = [request_reset(browser(address)).status_code for address in addresses]
    assert statuses == [302] * 5 + [429]
    assert len(mail.outbox) == 5


def test_mails_caused_by_one_network_are_limited(sends_mail: None) -> None:
    client = browser()
    statuses = [request_reset(client, f"user{number}@example.com").status_code for number in range(21)]
    assert statuses == [302] * 20 + [429]
    assert len(mail.outbox) == 20


def test_without_a_mail_server_the_page_says_so(alice: NewAccount) -> None:
    for response in (browser().get("/accounts/password/reset/"), request_reset(browser())):
        assert response.status_code == 200
        assert "This service sends no mail" in response.content.decode()
    assert mail.outbox == []


def test_a_mail_server_that_does_not_respond_gets_503(
    sends_mail: None,
    alice: NewAccount,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    def refuse(*_: object) -> int:
        raise SMTPServerDisconnected

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
    response = request_reset(browser())
    assert (response.status_code, parse(response).texts["h1"]) == (503, refusals.MAIL_FAILED.title)
    # A change is made even if nobody can be told.
    client = browser()
    log_in(client)
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        assert change(client).status_code == 302
    assert len(callbacks) == 1


def test_the_owner_gets_a_mail_about_a_new_password(
    sends_mail: None,
    settings: Settings,
    alice: NewAccount,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    settings.BRAND_NAME = "Müller & Söhne"
    client = browser()
    log_in(client)
    with django_capture_on_commit_callbacks(execute=True):
        change(client)
    (message,) = mail.outbox
    assert (message.to, message.subject) == (["alice@example.com"], "[Müller & Söhne] Password Changed")
    assert str(message.body).rstrip().endswith("\n\nMüller & Söhne\nsho.rt")


def test_requests_of_a_network_are_limited(settings: Settings, db: None) -> None:
    settings.RATE_LIMIT_ANONYMOUS = 3
    assert [browser().get("/accounts/login/").status_code for _ in range(4)] == [200] * 3 + [429]
    assert browser("198.51.100.5").get("/accounts/login/").status_code == 200


def test_nobody_can_sign_up(db: None) -> None:
    assert browser().get("/accounts/signup/").status_code == 200
    assert (
        submit(browser(), "signup/", email="x@example.com", password1=NEW, password2=NEW).status_code == 405
    )
    assert User.objects.count() == 0


def test_a_session_in_the_database_is_sealed(alice: NewAccount) -> None:
    client = browser()
    log_in(client)
    assert logged_in(client)
    stored = PageSession.objects.get()
    assert "_auth_user" not in stored.session_data
    PageSession.objects.update(session_data="x" * 40)
    assert not logged_in(client)
