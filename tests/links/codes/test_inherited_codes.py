"""Codes that imported links keep from another service."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from links.codes import FILES, RESERVED, is_inherited_code, is_reserved, is_route
from testing.cases import for_each


@pytest.mark.parametrize(
    "text",
    ["a", "7", "-", "_", "~", "ab", "spring-sale", "a_b", "v1.2", "~me", "a-_.~Z9", "...", "x" * 255, "abc"],
)
def test_unreserved_characters_from_1_to_255_are_an_inherited_code(text: str) -> None:
    assert is_inherited_code(text) is True


@for_each(
    "text",
    [
        *(
            "",
            "x" * 256,
            "a b",
            " a",
            "a\n",
            "a\x00",
            "a/b",
            "a+",
            "a%2Db",
            "a?b",
            "a#b",
            "a@b",
            "a:b",
            "a,b",
        ),
        # Clients resolve dot segments before they send a request.
        *(".", ".."),
        *("caf\u00e9", "\u0430bc", "\u2011", "\U0001f600", "\uff41", "\ud800"),
    ],
)
def test_other_text_is_not_an_inherited_code(text: str) -> None:
    assert is_inherited_code(text) is False


@for_each(
    "code",
    [
        *("api", "API", "admin", "qr", "static", "login"),
        *("favicon.ico", "robots.txt", "Robots.TXT", ".well-known", "apple-touch-icon.png", "sitemap.xml"),
        *(
            "sign-in",
            "log_in",
            "Log-In",
            "reset-password",
            "pay~pal",
            "login.php",
            "sign-in.html",
            "index.html",
        ),
        *("-admin", "my-account", "~me", "api.json", "wp.login.php".removeprefix("wp.")),
    ],
)
def test_reserved_words_and_paths_stay_reserved_with_punctuation(code: str) -> None:
    assert is_reserved(code) is True


@pytest.mark.parametrize(
    "code",
    ["-", "a", "spring-sale", "my-login-page", "stats.2024", "login.2024", "v1.2", "api-v2", "blog.html"],
)
def test_other_inherited_codes_are_available(code: str) -> None:
    assert is_reserved(code) is False


def test_an_operators_words_are_reserved_with_punctuation(settings: Settings) -> None:
    settings.RESERVED_CODES = frozenset({"acme"})
    assert [is_reserved(code) for code in ("a-c-m-e", "acme.html", "acme-sale")] == [True, True, False]


@pytest.mark.parametrize(
    "code", ["acme-bank", "Acme-Bank", "acmebank", "acme.bank", "acme-bank.html", "my-promo.js"]
)
def test_an_operators_words_with_punctuation_are_reserved(settings: Settings, code: str) -> None:
    settings.RESERVED_CODES = frozenset({"acme-bank", "my-promo.js", "-"})
    assert is_reserved(code) is True
    assert [is_reserved(other) for other in ("-", "--", "acme-bank-sale", "bank-acme")] == [
        True,
        False,
        False,
        False,
    ]


def test_files_of_browsers_are_reserved_and_never_looked_up() -> None:
    assert [
        file for file in FILES if not (is_reserved(file) and is_route(file) and is_inherited_code(file))
    ] == []
    assert FILES.isdisjoint(RESERVED)
