from ipaddress import ip_network

import pytest

from analytics.visitors.visitor import Visitor, visitor_from
from testing.cases import for_each

CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) "
    "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36"
)
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


def visitor(method: str = "GET", /, **meta: str) -> Visitor:
    return visitor_from({"REMOTE_ADDR": "8.8.8.8", "HTTP_USER_AGENT": CHROME} | meta, method, [])


def test_visitor_of_a_plain_request() -> None:
    meta = {"HTTP_REFERER": "https://example.com/page?a=1", "HTTP_ACCEPT_LANGUAGE": "pt-BR,pt;q=0.9"}
    assert visitor(**meta) == Visitor(
        address="8.8.8.8",
        user_agent=CHROME,
        referrer="https://example.com/page?a=1",
        kind="click",
        opted_out=False,
        language="pt",
    )


def test_visitor_of_an_empty_request() -> None:
    assert visitor_from({}, "GET", []) == Visitor(
        address="", user_agent="", referrer="", kind="crawler", opted_out=False
    )


def test_forwarded_address_is_used_only_from_trusted_proxies() -> None:
    meta = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "1.1.1.1, 9.9.9.9"}

    assert visitor_from(meta, "GET", []).address == "10.0.0.1"
    assert visitor_from(meta, "GET", [ip_network("10.0.0.0/8")]).address == "9.9.9.9"


@for_each(
    ("method", "meta", "kind"),
    [
        ("GET", {}, "click"),
        ("POST", {}, "click"),
        ("HEAD", {}, "head"),
        ("HEAD", {"HTTP_SEC_PURPOSE": "prefetch", "HTTP_USER_AGENT": GOOGLEBOT}, "head"),
        ("GET", {"HTTP_SEC_PURPOSE": "prefetch"}, "prefetch"),
        ("GET", {"HTTP_SEC_PURPOSE": "prefetch;prerender"}, "prefetch"),
        ("GET", {"HTTP_SEC_PURPOSE": "Prerender"}, "prefetch"),
        ("GET", {"HTTP_PURPOSE": "prefetch"}, "prefetch"),
        ("GET", {"HTTP_PURPOSE": "preview"}, "prefetch"),
        ("GET", {"HTTP_X_MOZ": "prefetch"}, "prefetch"),
        ("GET", {"HTTP_PURPOSE": ""}, "click"),
        ("GET", {"HTTP_SEC_PURPOSE": "navigate"}, "click"),
        ("GET", {"HTTP_PURPOSE": "prefetch", "HTTP_USER_AGENT": GOOGLEBOT}, "prefetch"),
        ("GET", {"HTTP_USER_AGENT": GOOGLEBOT}, "crawler"),
        ("GET", {"HTTP_USER_AGENT": "\x00\x01"}, "crawler"),
        ("GET", {"HTTP_USER_AGENT": "curl/8.14.1"}, "click"),
    ],
)
def test_kind(method: str, meta: dict[str, str], kind: str) -> None:
    assert visitor(method, **meta).kind == kind


@pytest.mark.parametrize(
    ("meta", "opted_out"),
    [
        ({"HTTP_SEC_GPC": "1"}, True),
        ({"HTTP_DNT": "1"}, True),
        ({"HTTP_DNT": "0", "HTTP_SEC_GPC": "1"}, True),
        ({"HTTP_DNT": "0"}, False),
        ({"HTTP_DNT": "null"}, False),
        ({}, False),
    ],
)
def test_opting_out(meta: dict[str, str], opted_out: bool) -> None:
    assert visitor(**meta).opted_out is opted_out


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("https://example.com/é".encode(), "https://example.com/é"),
        ("https://例え.jp/".encode(), "https://例え.jp/"),
        ("https://example.com/é".encode("latin-1"), "https://example.com/�"),
        (b"a\x00b\x01c\x7fd\ne", "abcde"),
        ("a\x85b\x9fc".encode(), "abc"),
        (b"\xed\xa0\x80 surrogate", "��� surrogate"),
        (b"x" * 600, "x" * 512),
        ("é".encode() * 600, "é" * 512),
        (b"\x00" * 600 + b"kept", "kept"),
    ],
)
def test_header_text_can_always_be_stored(sent: bytes, kept: str) -> None:
    as_wsgi_passes_it = sent.decode("latin-1")
    parsed = visitor(HTTP_USER_AGENT=as_wsgi_passes_it, HTTP_REFERER=as_wsgi_passes_it)

    assert parsed.user_agent == kept
    assert parsed.referrer == kept


@pytest.mark.parametrize("text", ["\ud800lone", "\udcffescaped", "wide €"])
def test_text_outside_latin_1_can_be_stored(text: str) -> None:
    parsed = visitor(HTTP_USER_AGENT=text, HTTP_REFERER=text)

    assert parsed.user_agent.encode().decode() == parsed.user_agent
    assert parsed.referrer == parsed.user_agent
