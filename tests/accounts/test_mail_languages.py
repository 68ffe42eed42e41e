"""Mails are in the language of the recipient's account, else in that of the request."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail
from django.test import Client
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import User
from accounts.rights import Role
from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD, bearer_client
from testing.accounts.workspaces import team
from testing.cases import for_each

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def sends_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True


def set_language(account: NewAccount, language: str | None) -> None:
    response = bearer_client(account.user).patch("/api/auth/me", {"language": language})
    assert (response.status_code, response.json()["data"]["user"]["language"]) == (200, language)


def replace_key(account: NewAccount, accepted: str) -> str:
    client = bearer_client(account.user)
    assert (
        client.post("/api/auth/regenerate-api-key", headers={"accept-language": accepted}).status_code == 200
    )
    message = mail.outbox.pop()
    assert message.extra_headers["Auto-Submitted"] == "auto-generated"
    return f"{message.subject}\n{message.body}"


@for_each(
    ("of_account", "accepted", "subject", "ending"),
    [
        (None, "", "API key replaced", "secure your account at once:"),
        (None, "de-CH, en;q=0.5", "API-Schlüssel ersetzt", "sichern Sie Ihr Konto sofort:"),
        ("de", "en", "API-Schlüssel ersetzt", "sichern Sie Ihr Konto sofort:"),
        ("en", "de", "API key replaced", "secure your account at once:"),
        # The dashboard may have a language without mails.
        ("eo", "de", "API key replaced", "secure your account at once:"),
    ],
)
def test_a_notice_is_in_the_language_of_the_account_else_of_the_request(
    alice: NewAccount, *, of_account: str | None, accepted: str, subject: str, ending: str
) -> None:
    set_language(alice, of_account)
    text = replace_key(alice, accepted)
    assert text.startswith(f"[sho.rt] {subject}\n")
    assert ending in text


@for_each("language", ["", "d", "german", "DE", "de-CH", "d\u202ee", "x" * 10_000, 5, ["de"]])
def test_other_texts_are_no_languages(bearer: APIClient, alice: NewAccount, *, language: Any) -> None:
    response = bearer.patch("/api/auth/me", {"language": language, "firstName": "Eve"})
    assert response.status_code == 400
    assert [error["field"] for error in response.json()["errors"]] == ["language"]
    alice.user.refresh_from_db()
    assert (alice.user.language, alice.user.first_name) == (None, "Ada")


def test_an_invitation_is_in_the_language_of_whom_it_invites(alice: NewAccount, stranger: NewAccount) -> None:
    shared = team(alice, "Marketing")
    set_language(alice, "en")
    set_language(stranger, "de")
    client = bearer_client(alice.user)
    for email, subject in ((stranger.user.email, "Einladung"), ("new@example.com", "Invitation")):
        invited = client.post(
            f"/api/workspaces/{shared.public_id}/invitations", {"role": Role.EDITOR, "email": email}
        )
        assert invited.json()["data"]["invitation"]["mailed"] is True
        assert mail.outbox.pop().subject == f"[sho.rt] {subject}"


def test_mails_of_the_pages_are_in_the_language_of_the_account(alice: NewAccount, settings: Settings) -> None:
    settings.SIGNUP = "open"
    set_language(alice, "de")
    english = Client(headers={"host": "sho.rt", "accept-language": "en"})
    for path, subject in (
        ("/accounts/password/reset/", "Neues Passwort"),
        ("/accounts/signup/", "Ihr Konto"),
    ):
        english.post(path, {"email": alice.user.email})
        assert mail.outbox.pop().subject == f"[sho.rt] {subject}"


def test_an_account_keeps_the_language_in_which_it_was_created(settings: Settings) -> None:
    settings.SIGNUP = "open"
    german = Client(headers={"host": "sho.rt", "accept-language": "de-AT"})
    german.post("/accounts/signup/", {"email": "new@example.com"})
    path = str(mail.outbox.pop().body).split(settings.BASE_URL)[1].split()[0]
    german.post(path, {"password": PASSWORD, "repeated": PASSWORD})
    assert User.objects.get(email="new@example.com").language == "de"
