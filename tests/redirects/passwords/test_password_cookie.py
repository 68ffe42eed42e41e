"""The cookie that unlocks a link with a password."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from pytest_django import Settings
from rest_framework.test import APIClient

from links.models import Link
from tests.redirects.conftest import PASSWORD
from tests.redirects.passwords.protected_links import DESTINATION, browser, send

MakeLink = Callable[..., dict[str, Any]]


def unlocked_cookie(link: dict[str, Any], password: str = PASSWORD) -> str:
    return send(browser(), f"/{link['shortCode']}", password).cookies[f"unlocked-{link['_id']}"].value


def visit_with(link: dict[str, Any], cookie: str) -> int:
    visitor = browser()
    visitor.cookies[f"unlocked-{link['_id']}"] = cookie
    return visitor.get(f"/{link['shortCode']}").status_code


def test_the_cookie_alone_unlocks_the_link(link: dict[str, Any]) -> None:
    assert visit_with(link, unlocked_cookie(link)) == 302


@pytest.mark.parametrize("new", ["another", PASSWORD], ids=["another", "the same again"])
def test_a_new_password_invalidates_the_cookie(api: APIClient, link: dict[str, Any], new: str) -> None:
    cookie = unlocked_cookie(link)

    assert api.put(f"/api/urls/{link['_id']}", {"password": new}).status_code == 200

    assert visit_with(link, cookie) == 401
    assert visit_with(link, unlocked_cookie(link, new)) == 302


def test_the_old_password_fails_after_a_change(api: APIClient, link: dict[str, Any], path: str) -> None:
    api.put(f"/api/urls/{link['_id']}", {"password": "another"})

    assert send(browser(), path, PASSWORD).status_code == 401
    assert send(browser(), path, "another").status_code == 303


def test_other_edits_keep_the_cookie_valid(api: APIClient, link: dict[str, Any]) -> None:
    cookie = unlocked_cookie(link)

    api.put(f"/api/urls/{link['_id']}", {"title": "new", "customCode": "spring"})

    assert visit_with(link, cookie) == 302


def test_removing_the_password_unlocks_the_link_for_everybody(
    api: APIClient, link: dict[str, Any], path: str
) -> None:
    api.put(f"/api/urls/{link['_id']}", {"password": None})

    assert browser().get(path)["Location"] == DESTINATION


def test_a_cookie_unlocks_no_other_link(make_link: MakeLink, link: dict[str, Any]) -> None:
    other = make_link(password=PASSWORD)

    assert visit_with(other, unlocked_cookie(link)) == 401


def test_a_cookie_unlocks_no_other_link_with_the_same_hash(make_link: MakeLink, link: dict[str, Any]) -> None:
    other = make_link(password="another")
    hashed = Link.objects.get(public_id=link["_id"]).password
    Link.objects.filter(public_id=other["_id"]).update(password=hashed)

    assert visit_with(other, unlocked_cookie(link)) == 401
    assert visit_with(other, unlocked_cookie(other)) == 302


def test_a_cookie_is_valid_for_15_minutes(link: dict[str, Any]) -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)
    with time_machine.travel(start, tick=False) as clock:
        cookie = unlocked_cookie(link)
        statuses = []
        for seconds in (0, 899, 900, 901, 86_400):
            clock.move_to(start + timedelta(seconds=seconds), tick=False)
            statuses.append(visit_with(link, cookie))

    assert statuses == [302, 302, 302, 401, 401]


@pytest.mark.parametrize(
    "tamper",
    [
        lambda cookie: "",
        lambda cookie: ":::",
        lambda cookie: "1",
        lambda cookie: cookie[:-1],
        lambda cookie: cookie + "x",
        lambda cookie: cookie[:-1] + ("A" if cookie[-1] != "A" else "B"),
        lambda cookie: ("0" if cookie[0] != "0" else "1") + cookie[1:],
        lambda cookie: cookie.rpartition(":")[0],
        lambda cookie: cookie.partition(":")[0],
        lambda cookie: cookie.partition(":")[0] + ":zzzzzz:" + cookie.rpartition(":")[2],
        lambda cookie: "\xff" * 4000,
        lambda cookie: cookie + ":" + cookie,
    ],
)
def test_a_modified_cookie_unlocks_nothing(link: dict[str, Any], tamper: Callable[[str], str]) -> None:
    assert visit_with(link, tamper(unlocked_cookie(link))) == 401


def test_the_cookies_of_a_service_behind_tls_are_secure() -> None:
    """Runs in a separate process, as settings read the environment only once."""
    program = (
        "import django, json; django.setup(); from django.conf import settings as s; "
        "print(json.dumps([s.CSRF_COOKIE_SECURE, s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_HTTPONLY]))"
    )
    flags = {}
    for base_url in ("https://sho.rt", "http://sho.rt"):
        environment = {
            **os.environ,
            "BASE_URL": base_url,
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
        }
        output = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            cwd=Path(__file__).parents[3],
            check=True,
            capture_output=True,
            timeout=240,
        ).stdout
        flags[base_url] = json.loads(output)

    assert flags == {"https://sho.rt": [True, True, True], "http://sho.rt": [False, False, True]}


@pytest.mark.parametrize(("base_url_is_https", "over_tls"), [(True, True), (True, False), (False, True)])
def test_over_tls_the_cookie_is_secure(
    settings: Settings, link: dict[str, Any], path: str, *, base_url_is_https: bool, over_tls: bool
) -> None:
    settings.CSRF_COOKIE_SECURE = base_url_is_https

    opened = send(browser(referer="https://sho.rt/"), path, PASSWORD, secure=over_tls)

    assert opened.status_code == 303
    assert opened.cookies[f"unlocked-{link['_id']}"]["secure"] is True


def test_a_cookie_of_a_former_secret_unlocks_nothing(link: dict[str, Any], settings: Settings) -> None:
    """It may have been replaced because somebody else knows it."""
    cookie = unlocked_cookie(link)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new-" + "y" * 50, [settings.SECRET_KEY]
    assert visit_with(link, cookie) == 401
    assert visit_with(link, unlocked_cookie(link)) == 302
