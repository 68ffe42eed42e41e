import string
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from links.codes import CODE_ALPHABET, RESERVED, generate_code, is_code, is_reserved
from testing.cases import for_each
from testing.links.drawn_codes import bytes_of, draw_codes, feed


def test_alphabet_is_base62() -> None:
    assert len(CODE_ALPHABET) == 62
    assert set(CODE_ALPHABET) == set(string.ascii_letters + string.digits)


@pytest.mark.parametrize("text", ["abc", "ABC", "007", "aB3dE6g", "a" * 50])
def test_ascii_letters_and_digits_from_3_to_50_are_a_code(text: str) -> None:
    assert is_code(text) is True


@for_each(
    "text",
    [
        "",
        "ab",
        "a" * 51,
        "abc\n",
        "\nabc",
        "abc\r",
        "abc\x00",
        " abc",
        "abc ",
        "a b",
        "a-b-c",
        "a_b_c",
        "a.b.c",
        "abc/",
        "abc+",
        "%61bc",
        "caf\u00e9",
        "\uff41\uff42\uff43",  # fullwidth abc
        "\u0661\u0662\u0663",  # Arabic-Indic 123
        "\u00b2\u00b3\u00b9",  # superscript 231: str.isdigit() says yes
        "\u0430\u0441\u0435",  # Cyrillic look-alikes of "ace"
        "\u017fab",  # long s: equal to "s" when case is ignored
        "\u212aab",  # Kelvin sign: equal to "k" when case is ignored
        "abc\u200b",
        "abc\ud800",
    ],
)
def test_other_text_is_not_a_code(text: str) -> None:
    assert is_code(text) is False


def test_an_operator_may_allow_punctuation(
    settings: Settings, api: APIClient, visitor: Client, make_link: Callable[..., dict[str, Any]]
) -> None:
    refused = api.post("/api/urls", {"originalUrl": "https://example.com/", "customCode": "spring-sale"})
    assert refused.status_code == 400
    settings.CUSTOM_CODE_PUNCTUATION = True
    link = make_link(customCode="spring-sale")
    assert api.put(f"/api/urls/{link['_id']}", {"customCode": "Spring_sale-"}).status_code == 200
    assert [visitor.get(f"/{code}").status_code for code in ("spring-sale", "Spring_sale-")] == [302, 302]
    for code in ("-ab", "_ab", "a-", "a.b", "a~b", "a-b\n", "a" + "-" * 50, "caf\u00e9-1"):
        response = api.put(f"/api/urls/{link['_id']}", {"customCode": code})
        assert (response.status_code, response.json()["errors"][0]["code"]) == (400, "code"), code
    # Punctuation hides no reserved word.
    assert (
        api.post("/api/urls", {"originalUrl": "https://x.example/", "customCode": "log-in"}).status_code
        == 409
    )
    settings.CUSTOM_CODE_PUNCTUATION = False
    assert (
        api.put(f"/api/urls/{link['_id']}", {"customCode": "Spring_sale-", "title": "x"}).status_code == 200
    )
    assert visitor.get("/spring-sale").status_code == 302


def test_generated_codes_are_seven_characters_that_pass_as_codes() -> None:
    for _ in range(1000):
        code = generate_code()
        assert len(code) == 7
        assert is_code(code)


def test_characters_of_generated_codes_are_uniform() -> None:
    """Chi-square with 61 degrees of freedom passes 180 once in 10^13 runs; plain `% 62` would give 980."""
    codes = [generate_code() for _ in range(20_000)]
    counts = Counter("".join(codes))
    expected = 20_000 * 7 / 62
    assert sum((counts[character] - expected) ** 2 / expected for character in CODE_ALPHABET) < 180


def test_bytes_beyond_the_largest_multiple_of_62_are_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, bytes(range(248, 256)) + bytes_of("Zz9aA0"), bytes([247, 62, 61, 186, 124, 0, 1]))
    assert generate_code() == "z0z0001"


def test_a_reserved_word_is_never_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_codes(monkeypatch, "Account", "SUPPORT", "aB3dE6g")
    assert generate_code() == "aB3dE6g"


def test_a_code_that_the_client_chose_is_not_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_codes(monkeypatch, "Same001", "Same002", "Fresh01")
    assert generate_code(("Same002", "Same001", None)) == "Fresh01"


@for_each(
    "word",
    [
        *["api", "admin", "static", "healthz", "readyz", "metrics", "internal", "robots", "favicon", "docs"],
        *["schema", "login", "logout", "signup", "register", "account", "accounts", "settings", "dashboard"],
        *["help", "support", "about", "terms", "privacy", "security", "abuse", "status", "www", "mail"],
        *["assets", "css", "js", "img", "images", "wellknown", "sitemap", "manifest", "humans", "ads"],
        *["index", "home", "null", "undefined", "qr", "preview", "stats"],
    ],
)
def test_own_routes_and_usual_names_are_reserved_in_any_case(word: str) -> None:
    assert is_reserved(word) is True
    assert is_reserved(word.upper()) is True
    assert is_reserved(word.title()) is True


@for_each(
    "word",
    [
        *["payment", "payments", "pay", "invoice", "invoices", "billing", "refund", "checkout", "wallet"],
        *["administrator", "sysadmin", "root", "staff", "owner", "postmaster", "webmaster", "hostmaster"],
        *["verification", "verify", "validate", "confirm", "2fa", "mfa", "otp", "sms", "token", "passkey"],
        *["update", "upgrade", "renew", "suspended", "unlock", "recover", "signin", "logon", "password"],
        *["bank", "paypal", "creditcard", "account", "myaccount", "security", "alert"],
    ],
)
def test_words_of_phishing_are_reserved_in_any_case(word: str) -> None:
    assert is_reserved(word) is True
    assert is_reserved(word.upper()) is True


def test_an_operators_words_are_reserved_in_any_case(settings: Settings) -> None:
    settings.RESERVED_CODES = frozenset({"acme"})
    assert [is_reserved(code) for code in ("acme", "ACME", "Acme", "acme1", "login")] == [
        *([True] * 3),
        False,
        True,
    ]


@pytest.mark.parametrize("code", ["api1", "myadmin", "sale", "blog", "aB3dE6g"])
def test_words_that_only_contain_a_reserved_word_are_available(code: str) -> None:
    assert is_reserved(code) is False


def test_reserved_words_are_lower_case_ascii() -> None:
    """The lookup converts the code to lower case, so it would never find other words."""
    assert [word for word in RESERVED if word != word.lower() or not word.isascii()] == []
