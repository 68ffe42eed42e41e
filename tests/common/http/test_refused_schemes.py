"""Destinations with other schemes, control characters or too many characters are refused."""

import pytest

from common.http.urls import InvalidDestination, canonical_destination
from testing.cases import for_each
from tests.common.http.destinations import refusal

SCRIPTS = ["javascript", "vbscript", "data", "file", "blob"]
BODIES = {
    "javascript": "alert(1)",
    "vbscript": "msgbox(1)",
    "data": "text/html,<script>alert(1)</script>",
    "file": "///etc/passwd",
    "blob": "https://example.com/9115d58c-bcda-ff47-86e5-083e9a215304",
}
SPELLINGS = [
    ("{scheme}:{body}", "unsupported_scheme"),
    ("{SCHEME}:{body}", "unsupported_scheme"),
    ("  {scheme}:{body}  ", "unsupported_scheme"),
    ("{scheme}://example.com/%0a{body}", "unsupported_scheme"),
    ("{scheme}:http://example.com/", "unsupported_scheme"),
    ("\x01{scheme}:{body}", "control_character"),
    ("\t{scheme}:{body}", "control_character"),
    ("{head}\t{tail}:{body}", "control_character"),
    ("{head}\n{tail}:{body}", "control_character"),
    ("{head}\r\n{tail}:{body}", "control_character"),
    ("{scheme}\x00:{body}", "control_character"),
    ("{scheme}\n:{body}", "control_character"),
    ("{scheme}&colon;{body}", "invalid_url"),
    ("&#x20;{scheme}:{body}", "invalid_url"),
    ("{scheme}%3a{body}", "invalid_url"),
    ("%20{scheme}:{body}", "invalid_url"),
    ("\u00a0{scheme}:{body}", "invalid_url"),
    ("{scheme}\u200b:{body}", "invalid_url"),
    ("{scheme}\uff1a{body}", "invalid_url"),
    ("{scheme} :{body}", "invalid_url"),
    ("/{scheme}:{body}", "invalid_url"),
]


@for_each("scheme", SCRIPTS)
@for_each(("spelling", "code"), SPELLINGS)
def test_a_scheme_that_runs_or_reads_locally_is_refused(spelling: str, code: str, scheme: str) -> None:
    raw = spelling.format(
        scheme=scheme, SCHEME=scheme.upper(), head=scheme[:3], tail=scheme[3:], body=BODIES[scheme]
    )
    assert refusal(raw) == code


@for_each(
    "raw",
    [
        *["ftp://example.com/", "ws://example.com/", "wss://example.com/", "gopher://example.com/"],
        *["mailto:a@example.com", "tel:+1234", "sms:+1234", "about:blank", "view-source:http://example.com/"],
        *["intent://example.com/#Intent;scheme=http;end", "ms-msdt:/id", "itms-apps://example.com/"],
        *["httpx://example.com/", "httpss://example.com/", "http+x://example.com/", "localhost:8000/"],
        *["filesystem:http://example.com/", "jar:http://example.com/!/", "example.com:80/", "h:"],
    ],
)
def test_any_other_scheme_is_refused(raw: str) -> None:
    assert refusal(raw) == "unsupported_scheme"


@for_each("character", [*map(chr, range(0x20)), "\x7f"])
@for_each(
    "template",
    ["{}http://a.example/", "http://a{}.example/", "http://a.example/{}", "http://a.example/?a#{}"],
)
def test_each_c0_control_and_delete_is_refused_in_every_part(template: str, character: str) -> None:
    assert refusal(template.format(character)) == "control_character"


def test_the_limit_is_2048_characters_after_canonicalisation() -> None:
    base = "https://example.com/"
    longest = base + "a" * (2048 - len(base))
    assert canonical_destination(longest).href == longest
    assert refusal(longest + "a") == "too_long"


def test_the_limit_applies_to_the_canonical_url() -> None:
    base = "https://example.com/"
    umlauts, rest = divmod(2048 - len(base), len("%C3%BC"))
    assert len(canonical_destination(base + "\u00fc" * umlauts + "a" * rest).href) == 2048
    assert refusal(base + "\u00fc" * umlauts + "a" * (rest + 1)) == "too_long"
    assert canonical_destination(base + "a/../" * 1000).href == base


def test_more_than_8192_characters_are_refused_unparsed() -> None:
    base = "https://example.com/"
    assert canonical_destination(base.ljust(8192)).href == base
    assert refusal(base.ljust(8193)) == "too_long"


def test_a_refusal_is_a_value_error_with_a_message() -> None:
    with pytest.raises(ValueError, match=r"^The address must start with http:// or https://\.$") as raised:
        canonical_destination("ftp://example.com/")
    assert isinstance(raised.value, InvalidDestination)
    assert raised.value.message == str(raised.value)
