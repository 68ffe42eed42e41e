"""Destinations that are accepted, and their canonical form."""

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from common.http.urls import Destination, InvalidDestination, canonical_destination
from testing.cases import for_each

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
