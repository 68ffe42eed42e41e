"""Hosts and destination URLs: what is accepted, its canonical form, and what is refused."""

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from common.http.urls import (
    Destination,
    InvalidDestination,
    canonical_destination,
    canonical_host,
    is_address,
)
from testing.cases import for_each
from tests.common.http.destinations import refusal

LONGEST = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 61])


@for_each(
    ("header", "host"),
    [
        ("sho.rt", "sho.rt"),
        ("SHO.RT", "sho.rt"),
        ("Sho.Rt", "sho.rt"),
        ("sho.rt.", "sho.rt"),
        ("SHO.RT.:8000", "sho.rt"),
        ("sho.rt:80", "sho.rt"),
        ("sho.rt:443", "sho.rt"),
        ("sho.rt:0", "sho.rt"),
        ("sho.rt:65535", "sho.rt"),
        ("sho.rt:", "sho.rt"),
        ("localhost", "localhost"),
        ("localhost:8000", "localhost"),
        ("a", "a"),
        ("a.b", "a.b"),
        ("go.customer.example", "go.customer.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("a-b.example", "a-b.example"),
        ("123.example", "123.example"),
        ("_dmarc.example", "_dmarc.example"),
        ("a_b.example", "a_b.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:8000", "127.0.0.1"),
        ("192.0.2.7", "192.0.2.7"),
        ("[::1]", "[::1]"),
        ("[::1]:8000", "[::1]"),
        ("[2001:DB8::1]", "[2001:db8::1]"),
        ("[::ffff:192.0.2.7]:80", "[::ffff:192.0.2.7]"),
        (LONGEST, LONGEST),
        (LONGEST + ".:443", LONGEST),
    ],
)  # fmt: skip
def test_host_has_one_spelling(header: str, host: str) -> None:
    assert canonical_host(header) == host


@for_each(
    "header",
    [
        "",
        " ",
        ".",
        "..",
        ":",
        ":80",
        "-",
        ".sho.rt",
        "sho.rt..",
        "-sho.rt",
        "sho.rt-",
        " sho.rt",
        "sho.rt ",
        "sho.rt\n",
        "sho.rt\r\nX: y",
        "sho\t.rt",
        "sho.rt\0",
        "sho.rt\x00.evil.example",
        "sho.rt,evil.example",
        "sho.rt, sho.rt",
        "sho.rt;evil",
        "sho.rt/path",
        "sho.rt/../evil",
        "sho.rt?query",
        "sho.rt#fragment",
        "user@sho.rt",
        "user:password@sho.rt",
        "sho.rt@evil.example",
        "sho.rt\\evil",
        "http://sho.rt",
        "//sho.rt",
        "sho.rt:http",
        "sho.rt:80:80",
        "sho.rt:-80",
        "sho.rt:+80",
        "sho.rt:8 0",
        "sho.rt:٨٠",
        "sho.rt:123456",
        "sho%2Ert",
        "sho.rt%00",
        "sho*rt",
        "*",
        "<script>",
        '"sho.rt"',
        "{{7*7}}",
        "$(id)",
        "bücher.example",
        "sho.rt\u3002example",
        "\uff53\uff48\uff4f.rt",
        "\u212aelvin.example",  # the Kelvin sign, whose lower case is an ASCII k
        "s\u017fo.rt",
        "\u0130.example",
        "::1",
        "[::1",
        "::1]",
        "[]",
        "[::1]]",
        "[::1].sho.rt",
        "[::1]x",
        "[sho.rt]",
        "[::g]",
        "[fe80::1%eth0]",
        "[v1.x]",
        "a" * 254,
        "a" * 100_000,
        "." * 100_000,
    ],
)
def test_invalid_host_is_refused(header: str) -> None:
    assert canonical_host(header) is None


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "10.0.0.7", "192.0.2.7", "localhost", "[::1]", "[2001:db8::1]"]
)
def test_ip_addresses_and_localhost_are_addresses(host: str) -> None:
    assert is_address(host) is True


@pytest.mark.parametrize(
    "host",
    [
        "sho.rt",
        "localhost.example",
        "127.0.0.1.example",
        "1.2.3.4a",
        "a1.2.3.4",
        "0x7f.1",
        "_",
        "my-localhost",
    ],
)
def test_names_are_not_addresses(host: str) -> None:
    assert is_address(host) is False


CANONICAL = [
    # Case, default ports, missing path
    ("http://example.com", "http://example.com/"),
    ("https://example.com/", "https://example.com/"),
    ("HTTPS://EXAMPLE.COM/Path?Query#Fragment", "https://example.com/Path?Query#Fragment"),
    ("hTtP://eXaMpLe.cOm/", "http://example.com/"),
    ("http://example.com:80/", "http://example.com/"),
    ("https://example.com:443/", "https://example.com/"),
    ("http://example.com:443/", "http://example.com:443/"),
    ("https://example.com:80/", "https://example.com:80/"),
    ("http://example.com:/a", "http://example.com/a"),
    ("http://example.com:0008080/a", "http://example.com:8080/a"),
    ("http://example.com:65535/", "http://example.com:65535/"),
    ("http://example.com?q", "http://example.com/?q"),
    ("http://example.com#f", "http://example.com/#f"),
    ("http://example.com./", "http://example.com./"),
    ("http://localhost/", "http://localhost/"),
    ("http://intranet:8080/wiki", "http://intranet:8080/wiki"),
    ("http://a_b.example/", "http://a_b.example/"),
    ("http://r3---sn-apo3qvuoxuxbt-j5pe.example/", "http://r3---sn-apo3qvuoxuxbt-j5pe.example/"),
    # Spaces around a pasted URL
    ("  https://example.com/a  ", "https://example.com/a"),
    (" https://example.com", "https://example.com/"),
    # Path
    ("http://example.com/a/./b/../c", "http://example.com/a/c"),
    ("http://example.com/../../a", "http://example.com/a"),
    ("http://example.com/a/%2e%2E/b", "http://example.com/b"),
    ("http://example.com/a//b///", "http://example.com/a//b///"),
    ("http://example.com/a\\b\\..\\c", "http://example.com/a/c"),
    ("http://example.com/\\@evil.example", "http://example.com//@evil.example"),
    ("http://example.com/a b", "http://example.com/a%20b"),
    ("http://example.com/%7Ea/%2f%zz%", "http://example.com/%7Ea/%2f%zz%"),
    ("http://example.com/\u00e9\U0001f600", "http://example.com/%C3%A9%F0%9F%98%80"),
    ('http://example.com/"<>`{}^|', "http://example.com/%22%3C%3E%60%7B%7D%5E|"),
    ("http://example.com/\u0085\u2028\u202e", "http://example.com/%C2%85%E2%80%A8%E2%80%AE"),
    ("http://example.com/@user:pass", "http://example.com/@user:pass"),
    ("http://example.com/http://other.example/", "http://example.com/http://other.example/"),
    # Query and fragment
    ("http://example.com/?", "http://example.com/?"),
    ("http://example.com/#", "http://example.com/#"),
    ("http://example.com/?a=b&a=c&&=", "http://example.com/?a=b&a=c&&="),
    ("http://example.com/?a b+c%20d", "http://example.com/?a%20b+c%20d"),
    (
        'http://example.com/?\u00fc=\'"<>#\u00fc "<>`',
        "http://example.com/?%C3%BC=%27%22%3C%3E#%C3%BC%20%22%3C%3E%60",
    ),
    ("http://example.com/?a\\b\\@c", "http://example.com/?a\\b\\@c"),
    ("http://example.com?@evil.example/", "http://example.com/?@evil.example/"),
    ("http://example.com#@evil.example/", "http://example.com/#@evil.example/"),
    ("http://example.com/?next=javascript:alert(1)", "http://example.com/?next=javascript:alert(1)"),
    ("http://example.com/%0d%0aSet-Cookie:a=b", "http://example.com/%0d%0aSet-Cookie:a=b"),
    ("http://example.com/%00", "http://example.com/%00"),
    ("http://example.com/?a#b?c#d", "http://example.com/?a#b?c#d"),
    # International names: UTS #46, not transitional
    ("http://\uff27\uff4f.com/", "http://go.com/"),
    ("http://m\u00fcnchen.de/", "http://xn--mnchen-3ya.de/"),
    ("http://M\u00dcNCHEN.DE/", "http://xn--mnchen-3ya.de/"),
    ("http://mu\u0308nchen.de/", "http://xn--mnchen-3ya.de/"),
    ("http://m%C3%BCnchen.de/", "http://xn--mnchen-3ya.de/"),
    ("http://xn--mnchen-3ya.de/", "http://xn--mnchen-3ya.de/"),
    ("http://XN--MNCHEN-3YA.de/", "http://xn--mnchen-3ya.de/"),
    ("http://fa\u00df.de/", "http://xn--fa-hia.de/"),
    ("http://\u65e5\u672c\u8a9e\u3002jp/", "http://xn--wgv71a119e.jp/"),
    ("http://\u2603.net/", "http://xn--n3h.net/"),
    ("http://\u0440\u0430ypal.com/", "http://xn--ypal-43d9g.com/"),
    ("http://ex\u00adample.com/", "http://example.com/"),
    ("http://ex\u200bample.com/", "http://example.com/"),
    ("http://ex\ufeffample.com/", "http://example.com/"),
    ("http://\u05d0\u05d1.example/", "http://xn--4dbc.example/"),
    ("http://ex%41mple.com/", "http://example.com/"),
    ("http://example\uff0ecom/", "http://example.com/"),
    # An all-ASCII name never fails IDNA (WHATWG URL, domain to ASCII), broken A-labels included
    ("http://xn--a/", "http://xn--a/"),
    # IP addresses in every form that browsers accept
    ("http://127.0.0.1/", "http://127.0.0.1/"),
    ("http://127.1/", "http://127.0.0.1/"),
    ("http://0x7f.0.0.1/", "http://127.0.0.1/"),
    ("http://0177.0.0.1/", "http://127.0.0.1/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://0x7F000001/", "http://127.0.0.1/"),
    ("http://127.0.0.1./", "http://127.0.0.1/"),
    ("http://\uff11\uff12\uff17.1/", "http://127.0.0.1/"),
    ("http://169.254.169.254/", "http://169.254.169.254/"),
    ("http://[::1]:8080/", "http://[::1]:8080/"),
    ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
    ("http://[2001:DB8::0:1]/", "http://[2001:db8::1]/"),
    ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
]


@for_each(("raw", "href"), CANONICAL)
def test_an_accepted_url_is_canonicalized_as_by_a_browser(raw: str, href: str) -> None:
    assert canonical_destination(raw).href == href


@for_each("href", sorted({href for _, href in CANONICAL}))
def test_canonicalization_is_idempotent(href: str) -> None:
    assert canonical_destination(href).href == href


@pytest.mark.parametrize(
    ("raw", "destination"),
    [
        ("http://Example.com/", Destination("http://example.com/", "example.com", 80)),
        ("https://Example.com/", Destination("https://example.com/", "example.com", 443)),
        ("https://example.com:443/", Destination("https://example.com/", "example.com", 443)),
        ("https://example.com:8443/", Destination("https://example.com:8443/", "example.com", 8443)),
        ("http://example.com:1/", Destination("http://example.com:1/", "example.com", 1)),
        ("http://example.com./", Destination("http://example.com./", "example.com.", 80)),
        ("http://m\u00fcnchen.de/", Destination("http://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de", 80)),
        ("http://0x7f.1/", Destination("http://127.0.0.1/", "127.0.0.1", 80)),
        ("http://[::0001]:81/", Destination("http://[::1]:81/", "[::1]", 81)),
    ],
)
def test_host_and_port_are_those_a_browser_connects_to(raw: str, destination: Destination) -> None:
    assert canonical_destination(raw) == destination


UGLY_PIECES = [
    *["..", "//", "xn--", "%2e", "%40", "%00", "%C3%BC", "0x", "::"],
    *"\t\n\x00\x7f\ud800",
    *"\u00df\u0130\u017f\u212a\u00ad\u200b\u200c\u200d\u202e\ufeff\u3002\uff0e\uff0f\uff20\uff1a\uff05",
    *"\u2100\u2488\u0301\u0627\u05d0\u0661\u4e2d\ufffd\U0001f600\U000e0100",
    *"abcxyz019.-_/\\?#@:%[]|<>^ \"'`{}&=+;,~!$()*",
]
UGLY = st.lists(st.one_of(st.sampled_from(UGLY_PIECES), st.characters()), max_size=24).map("".join)
PREFIXES = [
    "http://",
    "https://",
    "HTTP://a.",
    "http://[",
    "http://1.",
    "http://xn--",
    "http://a:",
    "http://a/",
    "http:",
    "",
]


@settings(max_examples=500)
@given(st.sampled_from(PREFIXES), UGLY)
@example("http://", "good.example\\@evil.example")
@example("http://", "\u0130\u0301.\u05d0")
def test_any_text_is_refused_or_unambiguous(prefix: str, rest: str) -> None:
    try:
        destination = canonical_destination(prefix + rest)
    except InvalidDestination:
        return
    assert re.fullmatch(r"https?://[\x21-\x7e]+", destination.href)
    assert canonical_destination(destination.href) == destination
    # A parser of RFC 3986 finds the same host in the canonical URL.
    other = urlsplit(destination.href)
    assert other.netloc.partition("@")[1] == ""
    assert other.hostname == destination.host.strip("[]")
    assert (other.port or {"http": 80, "https": 443}[other.scheme]) == destination.port


@for_each(
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
