"""Links with a password: its form, which only the service itself may send, and the cookie that unlocks the link."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from pytest_django import Settings
from rest_framework.test import APIClient

from limits.models import AttemptLog
from links.models import Link
from pages.refusals import FORM_EXPIRED
from redirects import refusals
from testing.analytics.clicks import clicks, drain
from testing.pages.html import assert_json_refusal, assert_page, parse
from tests.redirects.conftest import PASSWORD
from tests.redirects.passwords.protected_links import DESTINATION, browser, send, tokens
from tests.redirects.passwords.protected_links import hashes as hashes

MakeLink = Callable[..., dict[str, Any]]


# The page


def test_a_protected_link_shows_the_password_form(path: str) -> None:
    response = browser().get(path)

    assert response.status_code == 401
    page = assert_page(response, title=refusals.PASSWORD.title, message=refusals.PASSWORD.message)
    assert [form["method"] for form in page.all("form")] == ["post"]
    token, field = page.all("input")
    assert (token["type"], token["name"]) == ("hidden", "csrfmiddlewaretoken")
    assert (field["type"], field["name"], field["id"]) == ("password", "password", "password")
    assert "required" in field
    assert page.all("label") == [{"for": "password"}]
    assert page.all("button") == [{}]
    assert [element["id"] for _, element in page.elements if "id" in element] == ["message", "password"]
    assert field["aria-describedby"] == "message"
    assert "Location" not in response
    assert set(response.cookies) == {"csrftoken"}


def test_programs_get_json(path: str) -> None:
    response = browser(accept="application/json").get(path)

    assert response.status_code == 401
    assert_json_refusal(response, reason="password", message=refusals.PASSWORD.message)


def test_the_password_page_reveals_nothing_about_link_or_request(
    path: str, api: APIClient, make_link: MakeLink
) -> None:
    evil = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}{% now %}"
    marked = make_link(
        title=evil, description=evil, tags=[evil[:50]], password=PASSWORD, utm={"source": evil}
    )
    plain = parse(browser().get(path))
    plain_wrong = parse(send(browser(), path, "wrong"))

    visitor = browser(referer=evil, accept_language=evil)
    response = visitor.get(
        f"/{marked['shortCode']}", QUERY_STRING=urlencode({"password": evil, "next": evil})
    )
    wrong = send(visitor, f"/{marked['shortCode']}", evil)

    assert parse(response).structure == plain.structure
    assert parse(response).texts == plain.texts
    assert parse(wrong).structure == plain_wrong.structure
    assert parse(wrong).texts == plain_wrong.texts


# The correct password


def test_the_correct_password_unlocks_the_link_for_15_minutes(
    api: APIClient, link: dict[str, Any], path: str
) -> None:
    visitor = browser()

    opened = send(visitor, path, PASSWORD)

    assert opened.status_code == 303
    assert opened["Location"] == path
    assert opened["Cache-Control"] == "no-store"
    assert opened.content == b""
    name = f"unlocked-{link['_id']}"
    assert name in opened.cookies
    cookie = {key: value for key, value in opened.cookies[name].items() if value and key != "expires"}
    assert cookie == {"path": path, "max-age": 900, "httponly": True, "samesite": "Lax"}
    assert PASSWORD not in str(opened.cookies)
    assert clicks(api, link) == 0

    followed = visitor.get(opened["Location"])
    assert followed.status_code == 302
    assert dict(followed.headers) == {
        "Location": DESTINATION,
        "Cache-Control": "no-store",
        "X-Robots-Tag": "noindex",
        "Content-Length": "0",
    }
    assert followed.cookies == {}
    assert clicks(api, link) == 1


def test_every_visit_to_an_unlocked_link_counts(api: APIClient, link: dict[str, Any], path: str) -> None:
    visitor = browser()
    send(visitor, path, PASSWORD)

    assert [visitor.get(path).status_code for _ in range(3)] == [302, 302, 302]
    assert clicks(api, link) == 3


def test_resubmitting_the_form_checks_no_password(path: str, hashes: list[str]) -> None:
    visitor, token = tokens(1, path)
    form = {"csrfmiddlewaretoken": token, "password": PASSWORD}

    responses = [visitor.post(path, form) for _ in range(3)]

    assert [(response.status_code, response["Location"]) for response in responses] == [(303, path)] * 3
    assert hashes == [PASSWORD]


def test_an_unlocked_link_still_obeys_its_other_rules(
    api: APIClient, link: dict[str, Any], path: str
) -> None:
    visitor = browser()
    send(visitor, path, PASSWORD)

    def visit_after(**changes: Any) -> int:
        drain()
        assert api.put(f"/api/urls/{link['_id']}", changes).status_code == 200
        return visitor.get(path).status_code

    assert visit_after(isActive=False) == 410
    assert visit_after(isActive=True) == 302
    assert visit_after(restrictions={"allowedDevices": ["mobile"]}) == 403
    assert visit_after(restrictions={"maxClicks": 2}) == 302
    assert visit_after() == 410


@pytest.mark.parametrize(
    "password",
    [
        "x",
        " ",
        "  spaces at both ends  ",
        "x" * 128,
        "\U0001f511" * 128,
        "пароль ✓ ключ",
        "e\u0301té",
        "\"'><script>alert(1)</script>&amp;=+%00%2B;",
        "argon2$argon2id$v=19$m=19456,t=2,p=1$x$y",
    ],
)
def test_any_password_of_1_to_128_characters_works(make_link: MakeLink, password: str) -> None:
    path = f"/{make_link(password=password)['shortCode']}"

    assert send(browser(), path, password + "x").status_code == 401
    assert send(browser(), path, password).status_code == 303


def test_the_field_accepts_the_longest_password(path: str) -> None:
    """Browsers count UTF-16 code units, two for each of these characters, and silently truncate pasted text."""
    field = parse(browser().get(path)).all("input")[1]

    assert int(field.get("maxlength") or 10**6) >= len(("\U0001f511" * 128).encode("utf-16-le")) // 2


# A wrong password


@pytest.mark.parametrize(
    "password", ["wrong", "", "OPEN SESAME", f"{PASSWORD} ", f" {PASSWORD}", "\x00", "x" * 100_000]
)
def test_a_wrong_password_shows_an_error_and_the_form_again(
    api: APIClient, link: dict[str, Any], path: str, password: str
) -> None:
    visitor = browser()

    response = send(visitor, path, password)

    assert response.status_code == 401
    page = assert_page(response, title=refusals.WRONG_PASSWORD.title, message=refusals.WRONG_PASSWORD.message)
    assert [element["id"] for _, element in page.elements if element.get("role") == "alert"] == ["message"]
    assert set(response.cookies) <= {"csrftoken"}
    assert visitor.get(path).status_code == 401
    assert clicks(api, link) == 0


def test_the_first_password_page_shows_no_error(path: str) -> None:
    page = parse(browser().get(path))

    assert [element for _, element in page.elements if element.get("role") == "alert"] == []


def test_a_wrong_password_is_reported_as_json_to_programs(path: str) -> None:
    visitor, token = tokens(1, path)

    response = visitor.post(
        path, {"csrfmiddlewaretoken": token, "password": "wrong"}, headers={"accept": "application/json"}
    )

    assert response.status_code == 401
    assert response.json() == {
        "success": False,
        "message": refusals.WRONG_PASSWORD.message,
        "reason": "password",
    }


def attempts() -> int:
    return sum(len(log.attempts) for log in AttemptLog.objects.all())


@pytest.mark.parametrize("name", ["password", "pw", "pass", "key", "p"])
def test_a_password_in_the_query_is_ignored(path: str, hashes: list[str], name: str) -> None:
    visitor, token = tokens(1, path)
    query = urlencode({name: PASSWORD, "csrfmiddlewaretoken": token})

    assert visitor.get(f"{path}?{query}").status_code == 401
    assert visitor.post(f"{path}?{query}").status_code == 403
    assert visitor.post(f"{path}?{query}", {"csrfmiddlewaretoken": token}).status_code == 401
    assert hashes in ([], [""])


@pytest.mark.parametrize(
    "headers",
    [
        {"password": PASSWORD},
        {"x-password": PASSWORD},
        {"authorization": "Basic OnNlc2FtZQ=="},
        {"cookie": f"password={PASSWORD}; pw={PASSWORD}"},
    ],
)
def test_a_password_in_a_header_is_ignored(path: str, hashes: list[str], headers: dict[str, str]) -> None:
    assert browser().get(path, headers=headers).status_code == 401
    assert hashes == []


@pytest.mark.parametrize(
    ("keeps_cookie", "token", "headers", "status"),
    [
        (True, "right", {}, 303),
        (True, "right", {"origin": "http://sho.rt"}, 303),
        (True, None, {}, 403),
        (True, "", {}, 403),
        (True, "x" * 64, {}, 403),
        (True, "another visitor's", {}, 403),
        (False, "right", {}, 403),
        (True, "right", {"origin": "http://evil.example"}, 403),
        (True, "right", {"origin": "http://sho.rt.evil.example"}, 403),
        (True, "right", {"origin": "http://sho.rt:8080"}, 403),
        (True, "right", {"origin": "null"}, 403),
        (True, "right", {"origin": ""}, 403),
    ],
)
def test_only_the_services_own_form_is_accepted(
    api: APIClient,
    link: dict[str, Any],
    path: str,
    hashes: list[str],
    *,
    keeps_cookie: bool,
    token: str | None,
    headers: dict[str, str],
    status: int,
) -> None:
    visitor, own_token = tokens(1, path)
    password = {"right": own_token, "another visitor's": tokens(1, path)[1]}.get(token or "", token)
    form = {"password": PASSWORD} | ({} if password is None else {"csrfmiddlewaretoken": password})
    if not keeps_cookie:
        visitor.cookies.clear()

    response = visitor.post(path, form, headers=headers)

    assert response.status_code == status
    if status == 403:
        assert_page(response, title=FORM_EXPIRED.title, message=FORM_EXPIRED.message)
        assert [name for name in response.cookies if name.startswith("unlocked")] == []
        assert (hashes, attempts()) == ([], 0)
        assert visitor.get(path).status_code == 401
    assert clicks(api, link) == 0


def test_a_foreign_form_gets_json_from_a_program(path: str) -> None:
    response = browser(accept="application/json").post(path, {"password": PASSWORD})

    assert response.status_code == 403
    assert_json_refusal(response, reason="csrf", message=FORM_EXPIRED.message)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://sho.rt"}, 303),
        ({"referer": "https://sho.rt/anything"}, 303),
        ({"referer": "https://evil.example/"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({}, 403),
    ],
)
def test_over_tls_the_form_needs_a_same_origin_header(
    path: str, headers: dict[str, str], status: int
) -> None:
    visitor = browser()
    token = parse(visitor.get(path, secure=True)).value_of("csrfmiddlewaretoken")

    response = visitor.post(
        path, {"csrfmiddlewaretoken": token, "password": PASSWORD}, headers=headers, secure=True
    )

    assert response.status_code == status


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


@pytest.mark.slow
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
