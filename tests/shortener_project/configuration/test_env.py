import os
from ipaddress import ip_network

import pytest

from shortener_project.configuration import env
from tests.shortener_project.configuration.variables import refusal

NAME = "SHORTENER_TEST_VARIABLE"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv(NAME, raising=False)
    return monkeypatch


def test_unset_text_returns_the_default(environment: pytest.MonkeyPatch) -> None:
    assert env.text(NAME) == ""
    assert env.text(NAME, "default") == "default"


@pytest.mark.parametrize(
    ("value", "text"), [("", "default"), ("  ", "default"), ("x", "x"), (" x y ", "x y"), ("0", "0")]
)
def test_text_is_trimmed_and_blank_counts_as_unset(
    value: str, text: str, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv(NAME, value)
    assert env.text(NAME, "default") == text


@pytest.mark.parametrize(
    ("value", "origins"),
    [
        ("", []),
        ("*", ["*"]),
        ("https://app.example.com", ["https://app.example.com"]),
        (
            "https://App.Example.com:443, http://localhost:3000",
            ["https://app.example.com", "http://localhost:3000"],
        ),
        ("HTTP://localhost:80,http://[::1]:3000", ["http://localhost", "http://[::1]:3000"]),
    ],
)
def test_origins_are_normalised_to_the_origin_header_form(
    value: str, origins: list[str], environment: pytest.MonkeyPatch
) -> None:
    environment.setenv(NAME, value)
    assert env.origins(NAME) == origins


@pytest.mark.parametrize(
    "value",
    ["app.example.com", "https://", "https://app.example.com/", "https://app.example.com?x", "https://app.example.com#x",
     "https://me@app.example.com", "https://app.example.com:0", "https://app.example.com:99999", "ftp://app.example.com",
     "https://*.example.com", "null", "https://[::1", "https://[]", "https://gö.example.com", "https://a b", "//a"],
)  # fmt: skip
def test_invalid_origin_is_rejected(value: str, environment: pytest.MonkeyPatch) -> None:
    for given_value in (value, f"https://app.example.com, {value}", f"*,{value}"):
        environment.setenv(NAME, given_value)
        named = "*" if given_value.startswith("*") else value
        assert refusal(lambda: env.origins(NAME)) == (
            f"{NAME} must list origins such as https://app.example.com, not {named!r}."
        )


@pytest.mark.parametrize(
    ("value", "number"), [("", 7), (" ", 7), ("1", 1), ("10", 10), (" 5 ", 5), ("007", 7)]
)
def test_integer_is_parsed(value: str, number: int, environment: pytest.MonkeyPatch) -> None:
    environment.setenv(NAME, value)
    assert env.integer(NAME, 7, minimum=1, maximum=10) == number


@pytest.mark.parametrize(
    "value", ["0", "11", "-1", "+1", "1.0", "1e1", "0x1", "1_0", "ten", "٣", "²", "1 0", "9" * 30]
)
def test_invalid_or_out_of_range_integer_is_rejected(value: str, environment: pytest.MonkeyPatch) -> None:
    environment.setenv(NAME, value)
    assert refusal(lambda: env.integer(NAME, 7, minimum=1, maximum=10)) == (
        f"{NAME} must be a whole number from 1 to 10, not {value!r}."
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [("", []), (",", []), ("a", ["a"]), ("a,b", ["a", "b"]), (" a , ,b c,, ", ["a", "b c"])],
)
def test_words_are_separated_by_commas(value: str, words: list[str], environment: pytest.MonkeyPatch) -> None:
    environment.setenv(NAME, value)
    assert env.words(NAME) == words


def test_unknown_choice_is_rejected(environment: pytest.MonkeyPatch) -> None:
    assert env.choice(NAME, ("text", "json")) == "text"
    environment.setenv(NAME, "json")
    assert env.choice(NAME, ("text", "json")) == "json"
    for wrong in ("JSON", "xml", "text,json"):
        environment.setenv(NAME, wrong)
        assert refusal(lambda: env.choice(NAME, ("text", "json"))) == (
            f"{NAME} must be one of text, json, not {given_value()!r}."
        )


def test_some_of_the_choices(environment: pytest.MonkeyPatch) -> None:
    assert env.some_of(NAME, ("text", "json")) == frozenset()
    environment.setenv(NAME, " JSON , text,json")
    assert env.some_of(NAME, ("text", "json")) == {"text", "json"}
    environment.setenv(NAME, "json,xml")
    wrong = f"{NAME} must list some of text, json, not 'xml'."
    assert refusal(lambda: env.some_of(NAME, ("text", "json"))) == wrong


def given_value() -> str:
    return os.environ[NAME]


def test_networks_are_parsed(environment: pytest.MonkeyPatch) -> None:
    assert env.networks(NAME) == []
    environment.setenv(NAME, "10.0.0.0/8, 192.0.2.7 ,10.1.2.3/8,2001:db8::/32,::1")
    assert env.networks(NAME) == [
        ip_network("10.0.0.0/8"),
        ip_network("192.0.2.7/32"),
        ip_network("10.0.0.0/8"),
        ip_network("2001:db8::/32"),
        ip_network("::1/128"),
    ]


@pytest.mark.parametrize("word", ["10.0.0.0/33", "10.0.0", "localhost", "10.0.0.0/8;::1", "*", "::/129", "1"])
def test_invalid_network_is_rejected(word: str, environment: pytest.MonkeyPatch) -> None:
    environment.setenv(NAME, f"10.0.0.0/8,{word}")
    assert (
        refusal(lambda: env.networks(NAME)) == f"{NAME} must list networks such as 10.0.0.0/8, not {word!r}."
    )


def test_addresses_are_normalised(environment: pytest.MonkeyPatch) -> None:
    assert env.addresses(NAME) == []
    environment.setenv(NAME, "192.0.2.1, 2001:DB8:0::1")
    assert env.addresses(NAME) == ["192.0.2.1", "2001:db8::1"]


@pytest.mark.parametrize("word", ["localhost", "192.0.2.1/32", "192.0.2.1:53", "[::1]", "192.0.2", "1"])
def test_invalid_address_is_rejected(word: str, environment: pytest.MonkeyPatch) -> None:
    environment.setenv(NAME, f"192.0.2.1,{word}")
    assert refusal(lambda: env.addresses(NAME)).startswith(f"{NAME} must list IP addresses: {word!r} ")


def test_sockets_are_parsed_with_the_default_port(environment: pytest.MonkeyPatch) -> None:
    assert env.sockets(NAME, port=53) == []
    environment.setenv(NAME, "127.0.0.1:5353, 192.0.2.1 ,[2001:db8::1],[::1]:5300")
    assert env.sockets(NAME, port=53) == [
        ("127.0.0.1", 5353),
        ("192.0.2.1", 53),
        ("2001:db8::1", 53),
        ("::1", 5300),
    ]


@pytest.mark.parametrize(
    "word",
    [
        *(
            "localhost:53",
            "192.0.2.1:0",
            "192.0.2.1:65536",
            "192.0.2.1:x",
            "::1",
            "[::1",
            "[::1]x",
            "192.0.2.1:53:53",
        ),
        *("user@192.0.2.1", "192.0.2.1/", "192.0.2.1?x", "192.0.2.1#x", ":53", "192.0.2.1:-1"),
    ],
)
def test_invalid_socket_is_rejected(word: str, environment: pytest.MonkeyPatch) -> None:
    environment.setenv(NAME, f"127.0.0.1:53,{word}")
    assert refusal(lambda: env.sockets(NAME, port=53)) == (
        f"{NAME} must list addresses such as 192.0.2.1:53 or [2001:db8::1]:53, not {word!r}."
    )


@pytest.mark.parametrize(
    "value",
    [
        "https://example.com/city-{year}-{month:02}.mmdb.gz",
        "http://127.0.0.1:8080/city.mmdb",
    ],
)
def test_monthly_address_may_name_the_month(value: str, environment: pytest.MonkeyPatch) -> None:
    environment.setenv(NAME, value)

    assert env.monthly_address(NAME, "https://example.com/default") == value


@pytest.mark.parametrize(
    "value",
    [
        *("example.com/city.mmdb", "ftp://example.com/city.mmdb", "file:///city.mmdb", "https:///city.mmdb"),
        *("https://example.com:x/", "https://example.com:0/", "https://[::1/", "https://example.com/{day}"),
        *("https://example.com/{}", "https://example.com/{year", "https://example.com/{year[0]}"),
        *("https://example.com/{month:x?}", "https://example.com/{year.none}"),
    ],
)
def test_invalid_monthly_address_is_rejected(value: str, environment: pytest.MonkeyPatch) -> None:
    environment.setenv(NAME, value)

    assert (
        refusal(lambda: env.monthly_address(NAME, ""))
        == f"{NAME} must look like https://example.com/{{year}}-{{month:02}}.mmdb.gz, not {value!r}."
    )
