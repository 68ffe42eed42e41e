"""Invitations to workspaces: the mail, and the page that it links to."""

from __future__ import annotations

import re
from smtplib import SMTPServerDisconnected
from typing import Any
from urllib.parse import quote

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.invitations import mailed_token
from accounts.models import Invitation, Member, User, Workspace
from accounts.services import NewAccount
from limits.attempts import Limit
from testing.accounts.accounts import PASSWORD, account, bearer_client
from testing.accounts.workspaces import team
from testing.pages.html import parse
from testing.sign_in.pages import logged_in_as

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
    assert data["mailed"] is True
    # Only the mailbox gets the whole token.
    assert path.startswith(f"/accounts/invitations/{data['token']}.")
    client = browser()
    assert client.get(path).status_code == 200
    login = {"login": GRACE, "password": PASSWORD, "next": path}
    assert client.post("/accounts/login/", login)["Location"] == path
    assert Member.objects.filter(user=grace.user, workspace=marketing).count() == 0
    assert client.post(path)["Location"] == f"/dashboard/overview?workspace={marketing.public_id}"
    assert Member.objects.get(user=grace.user, workspace=marketing).role == "editor"
    assert (client.get(path).status_code, client.post(path).status_code) == (404, 404)


def test_the_mail_has_nothing_that_the_inviter_can_choose(alice: NewAccount, marketing: Workspace) -> None:
    User.objects.update(first_name="Visit http://evil.example")
    invite(alice, marketing)
    assert "evil.example" not in f"{mail.outbox[0].subject} {mail.outbox[0].body}"


def test_without_an_address_or_a_mail_server_no_mail_is_sent(
    alice: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    assert invite(alice, marketing, "")["data"]["invitation"]["mailed"] is False
    settings.SENDS_MAIL = False
    invitation = invite(alice, marketing)["data"]["invitation"]
    assert ("token" in invitation, invitation["mailed"], mail.outbox) == (True, False, [])


def test_an_invitation_that_cannot_be_mailed_remains(
    alice: NewAccount, marketing: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise SMTPServerDisconnected

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
    invitation = invite(alice, marketing)["data"]["invitation"]
    assert invitation["mailed"] is False
    assert browser().get(f"/accounts/invitations/{invitation['token']}/").status_code == 200


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
    path = path_in_mail()
    for response, status in ((client.get(path), 200), (client.post(path), 403)):
        page = response.content.decode()
        assert (response.status_code, parse(response).texts["h1"]) == (status, "Invitation")
        assert "for another e-mail address" in page
        # Neither the address nor a button that would be refused.
        assert (GRACE in page, ">Accept<" in page) == (False, False)
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


NAMES = {"first_name": "Grace", "last_name": "Hopper"}
NEW = {**NAMES, "password": PASSWORD, "repeated": PASSWORD}


def token_of(response: Any) -> str:
    token: str = response["data"]["invitation"]["token"]
    return token


def open_page(token: str) -> str:
    return f"/accounts/invitations/{token}/"


@pytest.mark.parametrize("signup", ["off", "invited", "open"])
def test_the_mailed_link_creates_the_account_and_joins(
    signup: str, alice: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    settings.SIGNUP = signup
    invite(alice, marketing)
    client, path = browser(), path_in_mail()
    page = client.get(path).content.decode()
    assert ("<bdi>grace@example.com</bdi>" in page, 'type="email"' in page) == (True, False)
    assert not User.objects.filter(email=GRACE).exists()
    response = client.post(path, NEW)
    assert response["Location"] == f"/dashboard/overview?workspace={marketing.public_id}"
    assert logged_in_as(client) == GRACE
    user = User.objects.get(email=GRACE)
    assert (user.first_name, user.is_staff, user.plan, user.check_password(PASSWORD)) == (
        "Grace", False, "free", True,
    )  # fmt: skip
    assert Member.objects.get(user=user, workspace=marketing).role == "editor"
    assert (client.get(path).status_code, browser().post(path, NEW).status_code) == (404, 404)


def test_a_link_that_was_not_mailed_proves_no_address(alice: NewAccount, marketing: Workspace) -> None:
    """Its inviter knows it, and must not get an account with the address of somebody else."""
    path = open_page(token_of(invite(alice, marketing)))
    mail.outbox.clear()
    client = browser()
    page = client.get(path).content.decode()
    assert ('type="password"' in page, 'type="email"' in page, GRACE in page) == (False, False, False)
    assert client.post(path, NEW)["Location"] == "/accounts/signup/sent/"
    assert not User.objects.filter(email=GRACE).exists()
    assert mail.outbox[0].to == [GRACE]
    assert (
        client.post(path_in_mail(), NEW)["Location"] == f"/dashboard/overview?workspace={marketing.public_id}"
    )
    assert logged_in_as(client) == GRACE


def test_an_invitation_for_anybody_mails_a_link_to_the_entered_address(
    alice: NewAccount, marketing: Workspace
) -> None:
    path = open_page(token_of(invite(alice, marketing, "")))
    client = browser()
    assert client.post(path, {"email": "no address"}).status_code == 200
    assert mail.outbox == []
    assert client.post(path, {"email": "Grace@Example.com"})["Location"] == "/accounts/signup/sent/"
    assert client.post(path_in_mail(), {**NEW, "email": "eve@example.com"}).status_code == 302
    assert logged_in_as(client) == GRACE
    assert not User.objects.filter(email="eve@example.com").exists()


def test_the_pages_do_not_reveal_who_has_an_account(alice: NewAccount, marketing: Workspace) -> None:
    account(GRACE)
    path = open_page(token_of(invite(alice, marketing, "")))
    emails = (GRACE, "nobody@example.com")
    responses = [browser().post(path, {"email": email}) for email in emails]
    assert {(response.status_code, response["Location"]) for response in responses} == {
        (302, "/accounts/signup/sent/")
    }
    texts = [str(message.body) for message in mail.outbox]
    assert ["already have an account" in text for text in texts] == [True, False]
    assert f"/accounts/login/?next={path.replace('/', '%2F')}" in texts[0]
    assert len({message.subject for message in mail.outbox}) == 1


def test_the_mailed_link_leads_the_owner_of_an_account_to_the_login(
    alice: NewAccount, marketing: Workspace
) -> None:
    grace = account(GRACE)
    invite(alice, marketing)
    client, path = browser(), path_in_mail()
    page = client.get(path).content.decode()
    assert ('type="password"' in page, f"/accounts/login/?next={quote(path)}" in page) == (False, True)
    assert client.post(path, {**NEW, "password": "another password"}).status_code == 200
    assert (logged_in_as(client), Member.objects.filter(user=grace.user).count()) == (None, 1)
    grace.user.refresh_from_db()
    assert (grace.user.first_name, grace.user.check_password(PASSWORD)) == ("Ada", True)


@pytest.mark.parametrize("proof", ["x", "", "e30:1:x", "of another invitation", "for another address"])
def test_a_forged_proof_opens_no_account(proof: str, alice: NewAccount, marketing: Workspace) -> None:
    other = token_of(invite(alice, team(alice, "Sales")))
    token = token_of(invite(alice, marketing))
    if proof == "of another invitation":
        proof = mailed_token(other, GRACE).partition(".")[2]
    elif proof == "for another address":
        proof = mailed_token(token, "eve@example.com").partition(".")[2]
    assert browser().post(open_page(f"{token}.{proof}"), NEW)["Location"] == "/accounts/signup/sent/"
    assert User.objects.count() == 1


def test_without_mail_the_page_creates_the_account(
    alice: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    settings.SENDS_MAIL = False
    fixed, free = (open_page(token_of(invite(alice, marketing, email))) for email in (GRACE, ""))
    client = browser()
    assert client.post(fixed, {**NEW, "email": "eve@example.com"}).status_code == 302
    assert logged_in_as(client) == GRACE
    other = browser()
    assert 'name="email"' in other.get(free).content.decode()
    # The account that exists keeps its password and its memberships.
    taken = other.post(
        free, {**NEW, "email": "Alice@example.com", "password": "x" * 20, "repeated": "x" * 20}
    )
    assert (taken.status_code, logged_in_as(other)) == (200, None)
    assert "cannot get a new account" in taken.content.decode()
    assert other.post(free, {**NEW, "email": "linus@example.com"}).status_code == 302
    assert Member.objects.get(user__email="linus@example.com", workspace=marketing).role == "editor"


def test_refusals_leave_neither_an_account_nor_a_used_invitation(
    alice: NewAccount, marketing: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    invite(alice, marketing)
    path = path_in_mail()
    weak = browser().post(path, {**NAMES, "password": "password", "repeated": "password"})
    differing = browser().post(path, {**NEW, "repeated": "x"})
    monkeypatch.setattr("accounts.invitations.MAX_MEMBERS", 1)
    full = browser().post(path, NEW)
    assert [weak.status_code, differing.status_code, full.status_code] == [200, 200, 403]
    assert "The passwords differ." in differing.content.decode()
    assert "at most 1000 members" in full.content.decode()
    assert (User.objects.filter(email=GRACE).count(), Invitation.objects.count()) == (0, 1)


def test_one_inviter_cannot_create_any_number_of_accounts(
    alice: NewAccount, marketing: Workspace, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SENDS_MAIL = False
    monkeypatch.setattr("accounts.invitations._ACCOUNTS_BY_INVITER", Limit(attempts=2, seconds=60))
    statuses = [
        browser().post(open_page(token_of(invite(alice, marketing, ""))), {**NEW, "email": email}).status_code
        for email in ("one@example.com", "alice@example.com", "three@example.com")
    ]
    # The second one failed, and told that the address has an account.
    assert statuses == [302, 200, 429]


def test_without_passwords_the_page_leads_to_single_sign_on(
    alice: NewAccount, marketing: Workspace, settings: Settings
) -> None:
    settings.PASSWORD_LOGIN = False
    settings.OIDC_ISSUER = "https://id.example"
    invite(alice, marketing)
    client, path = browser(), path_in_mail()
    page = client.get(path).content.decode()
    assert ('action="/accounts/oidc/login/"' in page, 'type="password"' in page) == (True, False)
    assert f'name="next" value="{path}"' in page
    assert client.post(path, NEW).status_code == 200
    assert not User.objects.filter(email=GRACE).exists()


def test_mail_and_page_are_in_the_language_of_their_reader(alice: NewAccount, marketing: Workspace) -> None:
    Workspace.objects.filter(pk=marketing.pk).update(name="Marketing")
    path = f"/api/workspaces/{marketing.public_id}/invitations"
    bearer_client(alice.user).post(
        path, {"role": "viewer", "email": GRACE}, headers={"accept-language": "de-AT,en;q=0.5"}
    )
    [message] = mail.outbox
    assert message.subject == "[sho.rt] Einladung"
    assert (
        "alice@example.com lädt Sie in den Arbeitsbereich „Marketing“ bei sho.rt ein. Ihre Rolle: Leser."
        in str(message.body)
    )
    page = browser().get(path_in_mail(), headers={"accept-language": "de"}).content.decode()
    assert "Leser sehen Links und Auswertungen." in page


def test_a_name_does_not_reorder_the_page(alice: NewAccount, marketing: Workspace) -> None:
    """Names from before such characters were refused."""
    Workspace.objects.filter(pk=marketing.pk).update(name="Sales \u202eelpmaxe")
    invite(alice, marketing)
    page = browser().get(path_in_mail()).content.decode()
    assert (
        "<bdi>Ada Lovelace (alice@example.com)</bdi> invites you to the workspace “<bdi>Sales \u202eelpmaxe</bdi>”"
        in page
    )
