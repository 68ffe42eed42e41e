"""The page on which anybody leaves out the visits of a browser."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db
PAGE = "/accounts/own-visits/"


def test_a_browser_is_left_out_and_counted_again() -> None:
    client = Client(headers={"host": "sho.rt"})
    assert "Do not count the visits of this browser" in client.get(PAGE).content.decode()
    response = client.post(PAGE, {"ignore": "1"})
    assert (response.status_code, response["Location"]) == (302, PAGE)
    cookie = response.cookies["ignore_my_visits"]
    assert (cookie.value, cookie["path"], cookie["samesite"]) == ("1", "/", "Lax")
    assert (cookie["httponly"], bool(cookie["domain"])) == (True, False)
    assert "Count the visits of this browser again" in client.get(PAGE).content.decode()
    client.post(PAGE)
    assert client.cookies["ignore_my_visits"].value == ""
    german = client.get(PAGE, headers={"accept-language": "de"}).content.decode()
    assert "Die Besuche dieses Browsers nicht zählen" in german
    assert client.delete(PAGE).status_code == 405


def test_another_site_cannot_change_the_choice() -> None:
    client = Client(enforce_csrf_checks=True, headers={"host": "sho.rt"})
    response = client.post(PAGE, {"ignore": "1"})
    assert response.status_code == 403
    assert "ignore_my_visits" not in response.cookies
