"""Only the service's own form can send the password of a link."""

from typing import Any
from urllib.parse import urlencode

import pytest
from rest_framework.test import APIClient

from limits.models import AttemptLog
from pages.refusals import FORM_EXPIRED
from testing.analytics.clicks import clicks
from testing.pages.html import check_json, check_page, parse
from tests.redirects.conftest import PASSWORD
from tests.redirects.passwords.protected_links import browser, tokens
from tests.redirects.passwords.protected_links import hashes as hashes


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
        check_page(response, title=FORM_EXPIRED.title, message=FORM_EXPIRED.message)
        assert [name for name in response.cookies if name.startswith("unlocked")] == []
        assert (hashes, attempts()) == ([], 0)
        assert visitor.get(path).status_code == 401
    assert clicks(api, link) == 0


def test_a_foreign_form_gets_json_from_a_program(path: str) -> None:
    response = browser(accept="application/json").post(path, {"password": PASSWORD})

    assert response.status_code == 403
    check_json(response, reason="csrf", message=FORM_EXPIRED.message)


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
