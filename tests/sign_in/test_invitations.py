"""Invitations to workspaces: the mail, and the page that it links to."""

from __future__ import annotations

import re
from smtplib import SMTPServerDisconnected
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.models import Invitation, Member, User, Workspace
from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD, account, bearer_client
from testing.accounts.workspaces import team
from testing.pages.html import parse

# Mails are sent after the commit.
pytestmark = pytest.mark.django_db(transaction=True)
GRACE = "grace@example.com"


@pytest.fixture(autouse=True)
def sends_mail(settings: Settings) -> None:
    settings.SENDS_MAIL = True


@pytest.fixture
def marketing(alice: NewAccount) -> Workspace:
    return team(alice, "Marketing: see http://evil.example")


def invite(alice: NewAccount, workspace: Workspace, email: str = GRACE, status: int = 201) -> Any:
    response = bearer_client(alice.user).post(
        f"/api/workspaces/{workspace.public_id}/invitations", {"role": "editor", "email": email}
    )
    assert response.status_code == status, response.content
    return response.json()


def invite_as_owner(alice: NewAccount, workspace: Workspace) -> str:
    path = f"/api/workspaces/{workspace.public_id}/invitations"
    response = bearer_client(alice.user).post(path, {"role": "owner"})
    token: str = response.json()["data"]["invitation"]["token"]
    return token


def path_in_mail() -> str:
    match = re.search(r"http://sho\.rt(/accounts/invitations/\S+)", str(mail.outbox[0].body))
    assert match is not None
    return match[1]


def browser(user: User | None = None) -> Client:
    client = Client(headers={"host": "sho.rt"})
    if user is not None:
        client.force_login(user)
    return client


def test_the_mail_leads_to_a_page_that_accepts(alice: NewAccount, marketing: Workspace) -> None:
    grace = account(GRACE)
    data = invite(alice, marketing, "Grace@example.com")["data"]["invitation"]
    [message] = mail.outbox
    assert (message.to, message.subject) == ([GRACE], "[sho.rt] Invitation")
    path = path_in_mail()
    assert path == f"/accounts/invitations/{data['token']}/"
    client = browser()
    assert client.get(path).status_code == 200
    login = {"login": GRACE, "password": PASSWORD, "next": path}
    assert client.post("/accounts/login/", login)["Location"] == path
    assert Member.objects.filter(user=grace.user, workspace=marketing).count() == 0
    assert client.post(path)["Location"] == f"/dashboard/?workspace={marketing.public_id}"
    assert Member.objects.get(user=grace.user, workspace=marketing).role == "editor"
    assert (client.get(path).status_code, client.post(path).status_code) == (404, 404)


def test_the_mail_has_nothing_that_the_inviter_can_choose(alice: NewAccount, marketing: Workspace) -> None:
    User.objects.update(first_name="Visit http://evil.example")
    invite(alice, marketing)
    assert "evil.example" not in f"{mail.outbox[0].subject} {mail.outbox[0].body}"


def test_without_an_address_or_a_mail_server_no_mail_is_sent(
    alice: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    assert "token" in invite(alice, marketing, "")["data"]["invitation"]
    settings.SENDS_MAIL = False
    assert "token" in invite(alice, marketing)["data"]["invitation"]
    assert mail.outbox == []


def test_an_invitation_that_cannot_be_mailed_remains(
    alice: NewAccount, marketing: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise SMTPServerDisconnected

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
    token = invite(alice, marketing)["data"]["invitation"]["token"]
    assert browser().get(f"/accounts/invitations/{token}/").status_code == 200


def test_mails_of_invitations_are_limited(alice: NewAccount, marketing: Workspace) -> None:
    for _ in range(5):
        invite(alice, marketing)
    assert invite(alice, marketing, status=429)["code"] == "rate_limited"
    assert (len(mail.outbox), Invitation.objects.count()) == (5, 5)
    for number in range(15):
        invite(alice, marketing, f"user{number}@example.com")
    assert invite(alice, marketing, "other@example.com", status=429)["code"] == "rate_limited"
    # Those without a mail have no such limit.
    invite(alice, marketing, "")


def test_somebody_else_cannot_accept(alice: NewAccount, stranger: NewAccount, marketing: Workspace) -> None:
    invite(alice, marketing)
    client = browser(stranger.user)
    response = client.post(path_in_mail())
    assert (response.status_code, parse(response).texts["h1"]) == (403, "Invitation")
    assert "for another e-mail address" in response.content.decode()
    assert GRACE not in response.content.decode()
    assert Invitation.objects.count() == 1


def test_a_member_cannot_accept_again(alice: NewAccount, marketing: Workspace) -> None:
    token = invite(alice, marketing, "")["data"]["invitation"]["token"]
    response = browser(alice.user).post(f"/accounts/invitations/{token}/")
    assert response.status_code == 409
    assert "already a member of this workspace" in response.content.decode()


def test_page_of_invitation_says_when_the_account_owns_too_many_workspaces(
    alice: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    grace = account(GRACE)
    team(grace)
    token = invite_as_owner(alice, marketing)
    settings.WORKSPACES_PER_ACCOUNT = 1
    response = browser(grace.user).post(f"/accounts/invitations/{token}/")
    assert response.status_code == 403
    assert "may own at most 1 workspaces" in response.content.decode()
    assert Member.objects.filter(user=grace.user, workspace=marketing).count() == 0


@pytest.mark.parametrize("token", ["x", "x" * 5_000, "\N{SNOWMAN}", "%00"])
def test_an_unknown_token_opens_nothing(token: str, alice: NewAccount) -> None:
    client = browser(alice.user)
    path = f"/accounts/invitations/{token}/"
    assert (client.get(path).status_code, client.post(path).status_code) == (404, 404)


def test_another_site_cannot_accept(alice: NewAccount, marketing: Workspace) -> None:
    grace = account(GRACE)
    invite(alice, marketing)
    strict = Client(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    strict.force_login(grace.user)
    assert strict.post(path_in_mail()).status_code == 403
    assert Member.objects.filter(user=grace.user, workspace=marketing).count() == 0


def test_the_required_second_factor_comes_first(
    alice: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    grace = account(GRACE)
    invite(alice, marketing)
    settings.REQUIRE_2FA = "all"
    assert browser(grace.user).post(path_in_mail())["Location"] == "/accounts/2fa/"
    assert Member.objects.filter(user=grace.user, workspace=marketing).count() == 0


@pytest.mark.parametrize(("signup", "shown"), [("off", False), ("invited", True)])
def test_the_page_offers_sign_up_where_it_is_possible(
    signup: str, shown: bool, alice: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    settings.SIGNUP = signup
    invite(alice, marketing)
    path = path_in_mail()
    page = browser().get(path).content.decode()
    assert (f"/accounts/signup/?next={path}" in page) is shown


def test_a_name_does_not_reorder_the_page(alice: NewAccount, marketing: Workspace) -> None:
    """Names from before such characters were refused."""
    Workspace.objects.filter(pk=marketing.pk).update(name="Sales \u202eelpmaxe")
    invite(alice, marketing)
    page = browser().get(path_in_mail()).content.decode()
    assert (
        "<bdi>alice@example.com</bdi> invites you to the workspace “<bdi>Sales \u202eelpmaxe</bdi>”" in page
    )
