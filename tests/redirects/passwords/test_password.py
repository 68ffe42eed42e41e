from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from rest_framework.test import APIClient

from redirects import refusals
from testing.analytics.clicks import clicks, drain
from testing.pages.html import check_json, check_page, parse
from tests.redirects.conftest import PASSWORD
from tests.redirects.passwords.protected_links import DESTINATION, browser, send, tokens
from tests.redirects.passwords.protected_links import hashes as hashes

MakeLink = Callable[..., dict[str, Any]]


# The page


def test_a_protected_link_shows_the_password_form(path: str) -> None:
    response = browser().get(path)

    assert response.status_code == 401
    page = check_page(response, title=refusals.PASSWORD.title, message=refusals.PASSWORD.message)
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
    check_json(response, reason="password", message=refusals.PASSWORD.message)


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
    page = check_page(response, title=refusals.WRONG_PASSWORD.title, message=refusals.WRONG_PASSWORD.message)
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
