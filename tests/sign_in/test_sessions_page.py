"""An account lists and ends its sessions, of browsers and of the API."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import EndReason, Session
from accounts.services import NewAccount
from testing.accounts.accounts import PASSWORD, bearer_client
from testing.pages.html import parse
from testing.sign_in.pages import logged_in

pytestmark = pytest.mark.django_db
PAGE = "/accounts/sessions/"


def signed_in(account: NewAccount, agent: str = "Firefox/150") -> Client:
    client = Client(headers={"host": "sho.rt", "user-agent": agent})
    client.post("/accounts/login/", {"login": account.user.email, "password": PASSWORD})
    return client


def text_of(client: Client) -> str:
    response = client.get(PAGE)
    assert response.status_code == 200
    return str(response.content.decode())


def test_the_page_lists_browsers_and_the_api_alike(alice: NewAccount, stranger: NewAccount) -> None:
    client = signed_in(alice)
    signed_in(alice, "Safari/20")
    signed_in(stranger, "Mallory/1")
    api = bearer_client(alice.user)
    assert len(api.get("/api/auth/sessions").json()["data"]["sessions"]) == 3
    page = text_of(client)
    assert page.count("<li>") == 3
    assert page.count("<strong>Browser") == 2
    assert page.count(", this one") == page.count("<strong>API") == 1
    assert ("Firefox/150" in page, "Safari/20" in page, "Mallory/1" in page) == (True, True, False)
    # The browser's own session has no button: that is what "Log out" is for.
    assert page.count("/end/") == 3


def test_ending_a_session_of_a_browser_signs_it_out(alice: NewAccount) -> None:
    client, other = signed_in(alice), signed_in(alice, "Safari/20")
    ended = Session.objects.get(user_agent="Safari/20")
    assert client.post(f"{PAGE}{ended.public_id}/end/")["Location"] == PAGE
    assert (logged_in(client), logged_in(other)) == (True, False)
    ended.refresh_from_db()
    assert ended.end_reason == EndReason.REVOKED
    assert "Safari/20" not in text_of(client)


def test_ending_a_session_of_the_api_ends_its_tokens(alice: NewAccount) -> None:
    client, api = signed_in(alice), bearer_client(alice.user)
    ended = Session.objects.get(browser_session=None)
    client.post(f"{PAGE}{ended.public_id}/end/")
    assert api.get("/api/auth/me").status_code == 401


def test_ending_all_others_keeps_this_browser(alice: NewAccount, stranger: NewAccount) -> None:
    client, others = signed_in(alice), [signed_in(alice) for _ in range(3)]
    api, mallory = bearer_client(alice.user), signed_in(stranger)
    client.post(f"{PAGE}end/")
    assert logged_in(client)
    assert [logged_in(other) for other in others] == [False] * 3
    assert api.get("/api/auth/me").status_code == 401
    assert logged_in(mallory)


def test_a_stranger_can_neither_see_nor_end_a_session(alice: NewAccount, stranger: NewAccount) -> None:
    client, mallory = signed_in(alice), signed_in(stranger)
    target = Session.objects.get(user=alice.user)
    response = mallory.post(f"{PAGE}{target.public_id}/end/")
    unknown = mallory.post(f"{PAGE}01a1fa86-5c3e-7f10-8d44-6a2b9c0e7f81/end/")
    assert (response.status_code, response["Location"]) == (unknown.status_code, unknown["Location"])
    mallory.post(f"{PAGE}end/")
    assert logged_in(client)


@pytest.mark.parametrize("path", ["", "end/", "01a1fa86-5c3e-7f10-8d44-6a2b9c0e7f81/end/"])
def test_without_a_session_the_pages_lead_to_the_login(path: str, db: None) -> None:
    client = Client(headers={"host": "sho.rt"})
    response = client.post(f"{PAGE}{path}") if path else client.get(PAGE)
    assert response["Location"].startswith("/accounts/login/?next=")


def test_a_link_or_another_site_ends_nothing(alice: NewAccount) -> None:
    client = signed_in(alice)
    target = Session.objects.get()
    for path in (f"{PAGE}end/", f"{PAGE}{target.public_id}/end/"):
        assert client.get(path).status_code == 405
    strict = Client(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    strict.cookies = client.cookies
    assert strict.post(f"{PAGE}{target.public_id}/end/").status_code == 403
    assert logged_in(client)


def test_an_agent_is_shown_as_text(alice: NewAccount) -> None:
    client = signed_in(alice, "<script>alert(1)</script>")
    response = client.get(PAGE)
    assert "<script>" not in response.content.decode()
    assert parse(response).texts["h1"] == "Sessions"
