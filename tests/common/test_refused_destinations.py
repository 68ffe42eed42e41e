"""Destinations that are refused: hostile, broken and too long URLs."""

import pytest

from common.http.destination_url import InvalidDestination, canonical_destination


def refusal(raw: str) -> str:
    with pytest.raises(InvalidDestination) as raised:
        canonical_destination(raw)
    return raised.value.code


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        # Empty or relative
        ("", "invalid_url"),
        (" ", "invalid_url"),
        ("example.com", "invalid_url"),
        ("www.example.com/path", "invalid_url"),
        ("//example.com/", "invalid_url"),
        ("///example.com/", "invalid_url"),
        ("\\\\example.com\\", "invalid_url"),
        ("/\\example.com/", "invalid_url"),
        ("/path", "invalid_url"),
        ("?query", "invalid_url"),
        ("#fragment", "invalid_url"),
        (".", "invalid_url"),
        ("://example.com/", "invalid_url"),
        (":http://example.com/", "invalid_url"),
        ("1http://example.com/", "invalid_url"),
        ("ht tp://example.com/", "invalid_url"),
        ("<http://example.com/>", "invalid_url"),
        ('"http://example.com/"', "invalid_url"),
        ("\u00a0http://example.com/", "invalid_url"),
        ("\ufeffhttp://example.com/", "invalid_url"),
        ("\u2003http://example.com/", "invalid_url"),
        ("\uff48ttp://example.com/", "invalid_url"),
        ("http\uff1a//example.com/", "invalid_url"),
        ("http:\uff0f\uff0fexample.com/", "invalid_url"),
        ("http\u017f://example.com/", "invalid_url"),
        # Absolute only after the corrections of a browser
        ("http:", "invalid_url"),
        ("http:/", "invalid_url"),
        ("http://", "invalid_url"),
        ("http:///", "invalid_url"),
        ("https:example.com", "invalid_url"),
        ("http:/example.com", "invalid_url"),
        ("http:///example.com", "invalid_url"),
        ("http:////example.com", "invalid_url"),
        ("http:\\\\example.com", "invalid_url"),
        ("http:/\\example.com", "invalid_url"),
        ("http:\\/example.com", "invalid_url"),
        ("http://\\example.com", "invalid_url"),
        ("http:///\\example.com", "invalid_url"),
        ("http:example.com/http://good.example/", "invalid_url"),
        ("http:/example.com/?http://good.example/", "invalid_url"),
        ("http:@example.com", "invalid_url"),
        ("http:/@example.com", "invalid_url"),
        ("http:user:pass@example.com", "invalid_url"),
        # No host
        ("http://?q", "invalid_url"),
        ("http://#f", "invalid_url"),
        ("http://:80/", "invalid_url"),
        ("http:// /", "invalid_url"),
        ("http://\u00ad/", "invalid_url"),
        ("http://%C2%AD/", "invalid_url"),
        ("http://user@/", "invalid_url"),
        ("http://user:pass@:80/", "invalid_url"),
        # Characters that no host can have, also after decoding and mapping
        ("http://exa mple.com/", "invalid_url"),
        ("http://exa<mple.com/", "invalid_url"),
        ("http://exa>mple.com/", "invalid_url"),
        ("http://exa^mple.com/", "invalid_url"),
        ("http://exa|mple.com/", "invalid_url"),
        ("http://exa%mple.com/", "invalid_url"),
        ("http://a[b/", "invalid_url"),
        ("http://a]b/", "invalid_url"),
        ("http://a%00b/", "invalid_url"),
        ("http://a%0d%0ab/", "invalid_url"),
        ("http://a%20b/", "invalid_url"),
        ("http://a%23b/", "invalid_url"),
        ("http://a%2fb/", "invalid_url"),
        ("http://a%3ab/", "invalid_url"),
        ("http://a%3fb/", "invalid_url"),
        ("http://a%40b/", "invalid_url"),
        ("http://a%5cb/", "invalid_url"),
        ("http://a%25b/", "invalid_url"),
        ("http://a%ffb/", "invalid_url"),
        ("http://good.example\uff0f.evil.example/", "invalid_url"),
        ("http://good.example\uff1f.evil.example/", "invalid_url"),
        ("http://good.example\uff03.evil.example/", "invalid_url"),
        ("http://good.example\uff20evil.example/", "invalid_url"),
        ("http://good.example\uff3cevil.example/", "invalid_url"),
        ("http://good.example\uff1a80/", "invalid_url"),
        ("http://good.example\u2100evil.example/", "invalid_url"),
        ("http://\uff05\uff14\uff11.com/", "invalid_url"),
        # IDNA: bidirectional and joining controls, unassigned, surrogates, broken A-labels
        ("http://a\u202eb.example/", "invalid_url"),
        ("http://a\u2066b.example/", "invalid_url"),
        ("http://a\u200db.example/", "invalid_url"),
        ("http://a\u200cb.example/", "invalid_url"),
        ("http://\u0627a.example/", "invalid_url"),
        ("http://a\ufdd0b.example/", "invalid_url"),
        ("http://a\ufffdb.example/", "invalid_url"),
        ("http://a\ue000b.example/", "invalid_url"),
        ("http://xn--te\u0161la.example/", "invalid_url"),
        ("http://\ud800.example/", "invalid_url"),
        ("http://example.com/\udfff", "invalid_url"),
        ("http://example.com/?\ud83d", "invalid_url"),
        # IPv4 and IPv6
        ("http://256.1.1.1/", "invalid_url"),
        ("http://1.1.1.256/", "invalid_url"),
        ("http://1.2.3.4.5/", "invalid_url"),
        ("http://4294967296/", "invalid_url"),
        ("http://0x100000000/", "invalid_url"),
        ("http://1.2.3.08/", "invalid_url"),
        ("http://foo.0x4/", "invalid_url"),
        ("http://1..1/", "invalid_url"),
        ("http://[::1/", "invalid_url"),
        ("http://::1/", "invalid_url"),
        ("http://[]/", "invalid_url"),
        ("http://[:::1]/", "invalid_url"),
        ("http://[1:2:3]/", "invalid_url"),
        ("http://[::1%25eth0]/", "invalid_url"),
        ("http://[::1.2.3.256]/", "invalid_url"),
        ("http://[::1]evil.example/", "invalid_url"),
        ("http://[www.example.com]/", "invalid_url"),
        ("http://[v1.fe80::a]/", "invalid_url"),
        # Port
        ("http://example.com:0/", "port"),
        ("https://example.com:00000/", "port"),
        ("http://example.com:65536/", "invalid_url"),
        ("http://example.com:99999/", "invalid_url"),
        ("http://example.com:18446744073709551696/", "invalid_url"),
        ("http://example.com:-80/", "invalid_url"),
        ("http://example.com:+80/", "invalid_url"),
        ("http://example.com:8 0/", "invalid_url"),
        ("http://example.com:http/", "invalid_url"),
        ("http://example.com:80:80/", "invalid_url"),
        ("http://example.com:\u0668\u0660/", "invalid_url"),
        # User names and passwords, also empty ones and those that look like a host
        ("http://user@example.com/", "userinfo"),
        ("http://user:@example.com/", "userinfo"),
        ("http://:pass@example.com/", "userinfo"),
        ("http://user:pass@example.com/", "userinfo"),
        ("http://@example.com/", "userinfo"),
        ("http://:@example.com/", "userinfo"),
        ("http://@@example.com/", "userinfo"),
        ("http://good.example@evil.example/", "userinfo"),
        ("http://good.example:80@evil.example/", "userinfo"),
        ("http://good.example:80:@evil.example:81/", "userinfo"),
        ("http://good.example@evil.example@worse.example/", "userinfo"),
        ("http://good.example%2f@evil.example/", "userinfo"),
        ("http://good.example%23@evil.example/", "userinfo"),
        ("http://good.example%5c@evil.example/", "userinfo"),
        ("http://good.example\u2044@evil.example/", "userinfo"),
        ("http://good.example @evil.example/", "userinfo"),
        ("http://user@[::1]/", "userinfo"),
        ("http://%40@example.com/", "userinfo"),
        ("HTTPS://USER@EXAMPLE.COM", "userinfo"),
        ("http://user@example.com?q", "userinfo"),
        ("http://user@example.com#f", "userinfo"),
        # A backslash before the path: it ends the host for a browser but not for other parsers
        ("http://good.example\\@evil.example/", "backslash"),
        ("http://good.example\\.evil.example/", "backslash"),
        ("http://good.example\\\\evil.example", "backslash"),
        ("http://good.example:80\\@evil.example/", "backslash"),
        ("http://good.example\\", "backslash"),
        ("http://evil.example\\?good.example/", "backslash"),
        ("http://evil.example\\#good.example/", "backslash"),
        ("http://user\\@example.com/", "backslash"),
        ("http://example.com\\a\\b", "backslash"),
        # Control characters, among them those that a browser strips
        ("http://exa\tmple.com/", "control_character"),
        ("http://exa\nmple.com/", "control_character"),
        ("http://exa\rmple.com/", "control_character"),
        ("ht\ntp://example.com/", "control_character"),
        ("http:\t//example.com/", "control_character"),
        ("http:/\t/example.com/", "control_character"),
        ("http://good.example\t@evil.example/", "control_character"),
        ("http://example.com/\r\nSet-Cookie: a=b", "control_character"),
        ("http://example.com/?a\r\n\r\n<script>", "control_character"),
        ("http://example.com/#\n", "control_character"),
        ("http://example.com/\n", "control_character"),
        ("\thttp://example.com/", "control_character"),
        ("\x00http://example.com/", "control_character"),
        ("http://example.com/\x00", "control_character"),
        ("http://exam\x00ple.com/", "control_character"),
        ("http://example.com/\x7f", "control_character"),
    ],
)
def test_a_hostile_or_broken_address_is_refused(raw: str, code: str) -> None:
    assert refusal(raw) == code


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


@pytest.mark.parametrize("scheme", SCRIPTS)
@pytest.mark.parametrize(("spelling", "code"), SPELLINGS)
def test_a_scheme_that_runs_or_reads_locally_is_refused(spelling: str, code: str, scheme: str) -> None:
    raw = spelling.format(
        scheme=scheme, SCHEME=scheme.upper(), head=scheme[:3], tail=scheme[3:], body=BODIES[scheme]
    )
    assert refusal(raw) == code


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("character", [*map(chr, range(0x20)), "\x7f"])
@pytest.mark.parametrize(
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
