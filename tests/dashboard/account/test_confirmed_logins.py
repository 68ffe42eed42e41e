"""Keys are shown, made and widened only shortly after a login or its confirmation, and their owner gets a mail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db.models import F
from django.test import Client
from django.utils import timezone
from playwright.sync_api import expect
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import ApiKey, ScopedKey, Session, User
from accounts.services import NewAccount
from accounts.sessions.lifecycle import CONFIRMED_FOR
from testing.accounts.accounts import PASSWORD, token_client
from testing.domains.domains import active_domain
from testing.pages.browser import Visit
from testing.pages.dashboard import session_cookie, sign_in
from testing.sign_in.pages import logged_in
from testing.sign_in.totp import add_totp, code
from tests.dashboard.account.browser_session import browser_of, token_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
KEY = {"name": "Import", "scopes": ["urls:read"]}


def log_in_earlier(by: timedelta = CONFIRMED_FOR) -> None:
    """The logins of all browsers become so much older."""
    Session.objects.update(created_at=F("created_at") - by)


def calls(client: APIClient) -> list[Any]:
    created = ScopedKey.objects.order_by("pk")[0]
    return [
        client.get("/api/auth/api-key"),
        client.post("/api/auth/regenerate-api-key"),
        client.post("/api/keys", KEY),
        client.post(f"/api/keys/{created.public_id}/rotate", {}),
    ]


def confirm(browser: Client, **fields: str) -> Any:
    page = browser.get("/accounts/confirm/?next=/dashboard/keys", follow=True)
    path, _ = page.redirect_chain[-1]
    token = page.context["csrf_token"]
    return browser.post(path, {**fields, "csrfmiddlewaretoken": token}, follow=True)


def test_a_token_of_a_browser_needs_a_recent_login(alice: NewAccount) -> None:
    browser = browser_of(alice)
    client = token_client(token_of(browser))
    assert client.post("/api/keys", KEY).status_code == 201
    assert [response.status_code for response in calls(client)] == [200, 200, 201, 200]
    log_in_earlier()
    before = ApiKey.objects.get().digest, ScopedKey.objects.count()
    refused = calls(client)
    assert {(one.status_code, one.json()["code"]) for one in refused} == {(403, "confirmation_required")}
    assert all("apiKey" not in one.content.decode() for one in refused)
    assert (ApiKey.objects.get().digest, ScopedKey.objects.count()) == before
    # Everything else goes on.
    assert client.get("/api/keys").status_code == 200
    assert client.get("/api/auth/me").status_code == 200

    answer = confirm(browser, password=PASSWORD)
    assert answer.redirect_chain[-1][0] == "/dashboard/keys"
    assert [response.status_code for response in calls(client)] == [200, 200, 201, 200]


LATER, SOON = (timezone.now() + timedelta(days=days) for days in (60, 30))
LIMITED = {**KEY, "scopes": ["urls:read", "urls:write"], "onlyOwn": True, "expiresAt": SOON.isoformat()}


@pytest.mark.parametrize(
    "change",
    [
        {"scopes": ["urls:read", "urls:write", "analytics:read"]},
        {"scopes": ["analytics:read"]},
        {"onlyOwn": False},
        {"expiresAt": LATER.isoformat()},
        {"expiresAt": None},
    ],
)
def test_a_key_gains_rights_only_after_a_recent_login(alice: NewAccount, change: dict[str, Any]) -> None:
    browser = browser_of(alice)
    client = token_client(token_of(browser))
    path = f"/api/keys/{client.post('/api/keys', LIMITED).json()['data']['key']['_id']}"
    log_in_earlier()
    before = ScopedKey.objects.values().get()
    refused = client.patch(path, {"name": "Other", **change})
    assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_required")
    assert ScopedKey.objects.values().get() == before

    confirm(browser, password=PASSWORD)
    assert client.patch(path, change).status_code == 200


def test_a_key_of_a_domain_moves_to_another_one_only_after_a_recent_login(alice: NewAccount) -> None:
    browser = browser_of(alice)
    client = token_client(token_of(browser))
    first, second = (active_domain(alice.workspace, f"{name}.example.com") for name in ("go", "to"))
    created = client.post("/api/keys", {**KEY, "domainId": str(first.public_id)})
    path = f"/api/keys/{created.json()['data']['key']['_id']}"
    log_in_earlier()
    for domain in (None, str(second.public_id)):
        assert client.patch(path, {"domainId": domain}).status_code == 403
    assert client.patch(path, {"domainId": str(first.public_id)}).status_code == 200


def test_a_key_loses_rights_at_any_time(alice: NewAccount) -> None:
    client = token_client(token_of(browser_of(alice)))
    key = client.post("/api/keys", {**LIMITED, "onlyOwn": False, "expiresAt": None}).json()["data"]["key"]
    path = f"/api/keys/{key['_id']}"
    log_in_earlier()
    for change in (
        {"name": "Other"},
        {"scopes": ["urls:read"]},
        {"onlyOwn": True},
        {"expiresAt": SOON.isoformat()},
    ):
        assert client.patch(path, change).status_code == 200
    # The whole object, as the dashboard sends it.
    whole = client.get("/api/keys").json()["data"]["keys"][0]
    assert client.patch(path, whole).status_code == 200


def test_a_stranger_is_not_asked_to_confirm(alice: NewAccount, stranger: NewAccount) -> None:
    created = token_client(token_of(browser_of(alice))).post("/api/keys", KEY).json()["data"]["key"]
    client = token_client(token_of(browser_of(stranger)))
    log_in_earlier()
    before = ScopedKey.objects.values().get()
    refused = client.patch(f"/api/keys/{created['_id']}", {"scopes": ["urls:read", "urls:write"]})
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    assert ScopedKey.objects.values().get() == before


def test_a_token_of_the_login_widens_a_key_at_any_time(bearer: APIClient) -> None:
    key = bearer.post("/api/keys", LIMITED).json()["data"]["key"]
    log_in_earlier(timedelta(days=20))
    change = {"scopes": ["urls:read", "urls:write", "qr:write"], "onlyOwn": False, "expiresAt": None}
    assert bearer.patch(f"/api/keys/{key['_id']}", change).status_code == 200


def test_a_wrong_password_confirms_nothing(alice: NewAccount) -> None:
    browser = browser_of(alice)
    client = token_client(token_of(browser))
    log_in_earlier()
    assert confirm(browser, password="wrong").status_code == 200
    assert client.get("/api/auth/api-key").status_code == 403


def test_a_code_confirms_too(alice: NewAccount, settings: Settings) -> None:
    settings.PASSWORD_LOGIN = False
    settings.MFA_TOTP_TOLERANCE = 20
    add_totp(alice.user)
    browser = browser_of(alice)
    client = token_client(token_of(browser))
    log_in_earlier()
    assert confirm(browser, code=code()).redirect_chain[-1][0] == "/dashboard/keys"
    assert client.get("/api/auth/api-key").status_code == 200


def test_a_confirmation_is_of_one_browser_and_ends(alice: NewAccount) -> None:
    first, second = browser_of(alice), browser_of(alice)
    clients = [token_client(token_of(browser)) for browser in (first, second)]
    log_in_earlier()
    confirm(first, password=PASSWORD)
    assert [client.get("/api/auth/api-key").status_code for client in clients] == [200, 403]
    Session.objects.update(confirmed_at=F("confirmed_at") - CONFIRMED_FOR)
    assert clients[0].get("/api/auth/api-key").status_code == 403


def test_an_account_without_a_password_logs_in_again(alice: NewAccount) -> None:
    User.objects.update(password="!")
    alice.user.refresh_from_db()
    browser = browser_of(alice)
    log_in_earlier()
    page = browser.get("/accounts/confirm/?next=/dashboard/keys")
    assert page.context["next"] == "/accounts/confirm/?next=/dashboard/keys"


def test_the_page_leads_to_pages_of_the_service_only(alice: NewAccount) -> None:
    browser = browser_of(alice)
    confirm(browser, password=PASSWORD)
    assert browser.get("/accounts/confirm/?next=https://evil.example/")["Location"] == "/accounts/"
    assert browser.get("/accounts/confirm/")["Location"] == "/accounts/"
    assert browser_of(None).get("/accounts/confirm/").status_code == 302


def test_a_token_of_the_login_needs_nothing_more(bearer: APIClient) -> None:
    log_in_earlier(timedelta(days=20))
    bearer.post("/api/keys", KEY)
    assert [response.status_code for response in calls(bearer)] == [200, 200, 201, 200]


def test_the_owner_gets_a_mail_about_each_key(bearer: APIClient, settings: Settings) -> None:
    settings.SENDS_MAIL = True
    for _ in range(3):
        bearer.get("/api/auth/api-key")
    bearer.post("/api/auth/regenerate-api-key")
    bearer.get("/api/auth/api-key")
    key = bearer.post("/api/keys", KEY).json()["data"]["key"]
    bearer.post(f"/api/keys/{key['_id']}/rotate", {})
    assert [message.subject for message in mail.outbox] == [
        "[sho.rt] API key shown",
        "[sho.rt] API key replaced",
        "[sho.rt] API key shown",
        "[sho.rt] New API key",
        "[sho.rt] API key replaced",
    ]
    texts = " ".join(str(message.body) for message in mail.outbox)
    assert {address for message in mail.outbox for address in message.to} == {"alice@example.com"}
    assert " UTC. If it was not you, secure your account at once:\n\nhttp://sho.rt/accounts/\n" in texts
    assert "sl_" not in texts
    assert KEY["name"] not in texts


def test_mails_about_keys_are_limited_and_never_refuse_a_call(bearer: APIClient, settings: Settings) -> None:
    settings.SENDS_MAIL = True
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "free": 0}
    statuses = {bearer.post("/api/auth/regenerate-api-key").status_code for _ in range(22)}
    assert (statuses, len(mail.outbox)) == ({200}, 20)


def test_without_a_mail_server_keys_work(bearer: APIClient) -> None:
    assert bearer.get("/api/auth/api-key").status_code == 200
    assert mail.outbox == []


@pytest.fixture
def signed_in_earlier(browse: Callable[[], Any], address: str, alice: NewAccount) -> Callable[..., Any]:
    """Sign in as `signed_in` does, some time ago."""

    @contextmanager
    def visit() -> Iterator[Visit]:
        cookie = session_cookie(alice.user)
        log_in_earlier()
        with browse() as visit:
            sign_in(visit, address, cookie)
            yield visit

    return visit


def confirm_in_page(visit: Visit, back_to: str) -> None:
    page = visit.page
    page.wait_for_url("**/accounts/reauthenticate/**")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    page.wait_for_url(back_to)


def test_the_dashboard_leads_to_the_confirmation_and_back(
    signed_in_earlier: Callable[..., Any], address: str, alice: NewAccount
) -> None:
    with signed_in_earlier() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/account")
        section = page.get_by_role("region", name="API key")
        section.get_by_role("button", name="Show the key").click()
        dialog = page.get_by_role("dialog", name="Confirm that it is you")
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_have_count(0)
        section.get_by_role("button", name="Show the key").click()
        dialog.get_by_role("button", name="Continue").click()
        confirm_in_page(visit, f"{address}/dashboard/account")
        section.get_by_role("button", name="Show the key").click()
        expect(section.locator("output")).to_have_text(alice.api_key)
        assert visit.errors(403) == []


def test_a_new_key_keeps_its_input_through_the_confirmation(
    signed_in_earlier: Callable[..., Any], address: str
) -> None:
    with signed_in_earlier() as visit:
        page = visit.page
        page.goto(f"{address}/dashboard/keys")
        page.get_by_label("Name").fill("Nightly import")
        page.get_by_label("Create, change and delete links").check()
        page.get_by_label("Expires at").fill("2099-01-05T09:30")
        page.get_by_role("button", name="Create key").click()
        dialog = page.get_by_role("dialog", name="Confirm that it is you")
        dialog.get_by_role("button", name="Continue").click()
        confirm_in_page(visit, f"{address}/dashboard/keys")
        expect(page.get_by_label("Name")).to_have_value("Nightly import")
        expect(page.get_by_label("Expires at")).to_have_value("2099-01-05T09:30")
        page.get_by_role("button", name="Create key").click()
        expect(page.locator("[data-key]")).to_contain_text("Create, change and delete links")
        expect(page.locator("output.secret")).to_be_visible()
        page.reload()
        expect(page.locator("[data-key]")).to_be_visible()
        expect(page.get_by_label("Name")).to_have_value("")
        assert visit.errors(403) == []


def test_the_dialog_is_german_too(signed_in_earlier: Callable[..., Any], address: str) -> None:
    with signed_in_earlier() as visit:
        page = visit.page
        page.add_init_script("localStorage.setItem('dashboard.language', 'de')")
        page.goto(f"{address}/dashboard/account")
        page.get_by_role("button", name="Schlüssel ersetzen").click()
        page.get_by_role("dialog").get_by_role("button", name="Schlüssel ersetzen").click()
        dialog = page.get_by_role("dialog", name="Bestätigen Sie, dass Sie es sind")
        dialog.get_by_role("button", name="Weiter").click()
        confirm_in_page(visit, f"{address}/dashboard/account")
        assert visit.errors(403) == []


def test_a_session_of_a_browser_has_an_absolute_end(alice: NewAccount, settings: Settings) -> None:
    settings.BROWSER_SESSION_DAYS = 3
    browser = browser_of(alice)
    log_in_earlier(timedelta(days=2, hours=23))
    # A change extends the session no further.
    session = browser.session
    session["changed"] = True
    session.save()
    [stored] = Session.objects.all()
    assert stored.expires_at == stored.created_at + timedelta(days=3)
    assert stored.expires_at - timezone.now() < timedelta(hours=1, seconds=1)
    assert logged_in(browser)
    assert token_of(browser)
    log_in_earlier(timedelta(hours=1))
    assert not logged_in(browser)
    assert browser.post("/dashboard/session/token", headers={"origin": "http://sho.rt"}).status_code == 401
