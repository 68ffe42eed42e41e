"""The code of a new link: what it may be, and which codes are taken or reserved."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver
from pytest_django import Settings
from rest_framework.test import APIClient

from common.errors import Conflict
from links.codes import RESERVED, is_code, is_route
from links.rules import refuse_reserved
from testing.links.calls import whole
from testing.refusals import broken_rules
from tests.links.creation import URL, refused


@pytest.mark.parametrize(
    "code", ["abc", "ABC", "a1B", "000", "123456", "a" * 50, "Z" * 50, "appstore", "apix"]
)
def test_a_custom_code_of_3_to_50_letters_and_digits_is_kept(
    api: APIClient, make_link: Callable[..., Any], code: str
) -> None:
    link = make_link(customCode=code)
    assert (link["customCode"], link["shortUrl"]) == (code, f"http://sho.rt/{code}")
    assert link["shortCode"] != code
    assert whole(api, link)["customCode"] == code


NO_CODES = [
    "a", "ab", "a-b", "a_b", "a.b", "a/b", "../", "a%20", "a+b", "a?b", "a#b", "abc.", "'or1=1", "<b>bold",
    "{{a}}", "\uff41\uff42\uff43", "\u0430bc", "caf\u00e9", "\u0661\u0662\u0663",
    "\U0001d552\U0001d553\U0001d554", "\U0001f600\U0001f600\U0001f600", "abc\u200b", "abc\u0301",
    "\u202ecba",
]  # fmt: skip
NO_CODES += ["a" * 51, "a" * 1000, "   ", "abc\n", "\nabc", "abc\r\n", "a\tb", "a b c", " abc", "abc "]


def test_a_malformed_custom_code_is_refused(api: APIClient) -> None:
    for code in NO_CODES:
        response = refused(api, {"originalUrl": URL, "customCode": code}, 400)
        assert broken_rules(response) == [("customCode", "code")]


def test_an_empty_custom_code_is_refused(api: APIClient) -> None:
    assert broken_rules(refused(api, {"originalUrl": URL, "customCode": ""}, 400)) == [
        ("customCode", "blank")
    ]


def test_codes_are_case_sensitive(make_link: Callable[..., Any], visitor: Client) -> None:
    for code in ("Abc", "abc", "ABC"):
        make_link(f"https://example.com/{code}", customCode=code)
    for code in ("Abc", "abc", "ABC"):
        assert visitor.get(f"/{code}")["Location"] == f"https://example.com/{code}"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("taker", ["api", "strange_api"])
def test_a_taken_code_is_refused(
    request: pytest.FixtureRequest, make_link: Callable[..., Any], taker: str, visitor: Client
) -> None:
    make_link(URL, customCode="taken")
    response = refused(
        request.getfixturevalue(taker), {"originalUrl": "https://evil.example/", "customCode": "taken"}, 409
    )
    assert response.json() == {
        "success": False,
        "message": "The code taken is already in use.",
        "code": "code_taken",
    }
    assert visitor.get("/taken")["Location"] == URL


def test_reserved_words_are_refused_in_any_case() -> None:
    words = sorted(word for word in RESERVED if is_code(word))
    assert len(words) > 50
    for word in words:
        for code in {word, word.upper(), word.title()}:
            with pytest.raises(Conflict) as refusal:
                refuse_reserved(code)
            assert (refusal.value.message, refusal.value.code) == (
                f"The code {code} is reserved.",
                "code_reserved",
            )


@pytest.mark.parametrize("code", ["login", "LOGIN", "Login"])
def test_reserved_word_is_refused_with_409(api: APIClient, code: str) -> None:
    response = refused(api, {"originalUrl": URL, "customCode": code}, 409)
    assert response.json() == {
        "success": False,
        "message": f"The code {code} is reserved.",
        "code": "code_reserved",
    }


def test_every_first_path_segment_of_the_service_is_reserved(api: APIClient) -> None:
    segments = {re.split(r"[/.<]", str(pattern.pattern))[0] for pattern in get_resolver().url_patterns}
    codes = sorted(segment for segment in segments if is_code(segment))
    assert {"admin", "api", "healthz", "readyz", "robots"} <= set(codes)
    assert all(is_route(segment) for segment in segments if segment)
    for code in codes:
        assert refused(api, {"originalUrl": URL, "customCode": code}, 409).json()["code"] == "code_reserved"


def test_a_code_reserved_later_keeps_working(
    api: APIClient, make_link: Callable[..., Any], visitor: Client, settings: Settings
) -> None:
    link = make_link(URL, customCode="Acme")
    settings.RESERVED_CODES = frozenset({"acme"})
    assert refused(api, {"originalUrl": URL, "customCode": "acme"}, 409).json()["code"] == "code_reserved"
    assert visitor.get("/Acme")["Location"] == URL
    # A client may send the whole link back.
    path = f"/api/urls/{link['_id']}"
    assert api.put(path, {**whole(api, link), "title": "kept"}).status_code == 200
    body = {"urls": [{"_id": link["_id"], "customCode": "Acme", "title": "again"}]}
    assert api.post("/api/urls/bulk-update", body).json()["data"]["succeeded"] == 1
    assert whole(api, link)["customCode"] == "Acme"
    assert visitor.get("/Acme")["Location"] == URL


def test_field_errors_precede_a_reserved_code(api: APIClient) -> None:
    response = refused(api, {"originalUrl": URL, "customCode": "admin", "title": 5}, 400)
    assert broken_rules(response) == [("title", "invalid")]
