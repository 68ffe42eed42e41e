from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redirects.router import MAX_QUERY, with_forwarded
from testing.cases import for_each

PAGE = "https://example.com/page"


@for_each(
    ("location", "query", "result"),
    [
        (PAGE, "", PAGE),
        (PAGE, "a=1", f"{PAGE}?a=1"),
        (PAGE, "a=1&b=2&a=3", f"{PAGE}?a=1&b=2&a=3"),
        (f"{PAGE}?x=0", "a=1", f"{PAGE}?x=0&a=1"),
        (f"{PAGE}#end", "a=1", f"{PAGE}?a=1#end"),
        (f"{PAGE}?x=0#end?a=2", "a=1", f"{PAGE}?x=0&a=1#end?a=2"),
        (f"{PAGE}?", "a=1", f"{PAGE}?a=1"),
        ("https://example.com/", "a", "https://example.com/?a"),
        (PAGE, "&&a=1&&", f"{PAGE}?a=1"),
        (PAGE, "redirect=https://evil.example/%2F..", f"{PAGE}?redirect=https://evil.example/%2F.."),
        # The destination's own parameters win, however the visitor writes their names.
        (f"{PAGE}?next=/home", "next=//evil.example", f"{PAGE}?next=/home"),
        (f"{PAGE}?next=/home", "%6eext=//evil.example", f"{PAGE}?next=/home"),
        (f"{PAGE}?%6Eext=/home", "next=//evil.example", f"{PAGE}?%6Eext=/home"),
        (f"{PAGE}?next=/home", "NEXT=//evil.example", f"{PAGE}?next=/home"),
        (f"{PAGE}?next=/home", "+next%20=//evil.example", f"{PAGE}?next=/home"),
        (f"{PAGE}?next=/home", "next[]=//evil.example", f"{PAGE}?next=/home"),
        (f"{PAGE}?next=/home", "next%5B0%5D=//evil.example", f"{PAGE}?next=/home"),
        (f"{PAGE}?next=/home", "a=1;next=//evil.example", f"{PAGE}?next=/home&a=1%3Bnext=//evil.example"),
        # Some servers cut a name at NUL, or decode "%u".
        (f"{PAGE}?next=/x", "next%00=//evil.example", f"{PAGE}?next=/x"),
        (f"{PAGE}?next=/x", "next%00a=//evil.example&a%1f=1&b%C2%85=1", f"{PAGE}?next=/x"),
        (f"{PAGE}?next=/x", "%u006eext=//evil.example", f"{PAGE}?next=/x"),
        (f"{PAGE}?next=/x", "%25U006eext=//evil.example", f"{PAGE}?next=/x"),
        # PHP replaces characters of names.
        (f"{PAGE}?next_url=/x", "next.url=//evil.example", f"{PAGE}?next_url=/x"),
        (f"{PAGE}?next_url=/x", "next%5Burl=//evil.example", f"{PAGE}?next_url=/x"),
        (f"{PAGE}?next_url=/x", "next+url=//evil.example", f"{PAGE}?next_url=/x"),
        (f"{PAGE}?next_url=/x", "next.url[0]=//evil.example", f"{PAGE}?next_url=/x"),
        (f"{PAGE}?next_=/x", "next+=//evil.example", f"{PAGE}?next_=/x"),
        (f"{PAGE}?next.url=/x", "next_url=//evil.example", f"{PAGE}?next.url=/x"),
        # Some servers separate the destination's parameters at ";".
        (f"{PAGE}?a=1;b=2", "b=evil&c=3", f"{PAGE}?a=1;b=2&c=3"),
        (f"{PAGE}?utm_source=news", "utm_source=evil&utm_medium=mail", f"{PAGE}?utm_source=news&utm_medium=mail"),
        (f"{PAGE}?empty", "empty=1", f"{PAGE}?empty"),
        # The marker of scans stays here.
        (PAGE, "qr=1", PAGE),
        (PAGE, "qr=2&QR=1&%71r=1&a=1", f"{PAGE}?a=1"),
        # Only printable ASCII characters can be in a header.
        (PAGE, "a=\u00e4&b=1", f"{PAGE}?b=1"),
        (PAGE, "a=\r\nSet-Cookie: x&b=1", f"{PAGE}?b=1"),
        # A query ends at "#".
        (f"{PAGE}#end", "a=1#b&c=2", f"{PAGE}?a=1#end"),
        (PAGE, "a=%0d%0aSet-Cookie:x", f"{PAGE}?a=%0d%0aSet-Cookie:x"),
    ],
)  # fmt: skip
def test_parameters_that_the_destination_lacks_are_added(location: str, query: str, result: str) -> None:
    assert with_forwarded(location, query) == result


@pytest.mark.parametrize(("length", "is_forwarded"), [(MAX_QUERY, True), (MAX_QUERY + 1, False)])
def test_nothing_is_forwarded_beyond_the_longest_query(length: int, is_forwarded: bool) -> None:
    query = "a=1&b=" + "x" * (length - len("x=0&a=1&b="))

    expected = f"{PAGE}?x=0&{query}" if is_forwarded else f"{PAGE}?x=0"
    assert with_forwarded(f"{PAGE}?x=0", query) == expected


def test_a_name_that_a_server_reads_as_a_control_character_is_dropped_in_any_number() -> None:
    assert with_forwarded(PAGE, "&".join(["%00"] * 2000) + "&a=1") == f"{PAGE}?a=1"


@given(
    st.sampled_from([PAGE, f"{PAGE}?next=/home&x=1", f"{PAGE}?next=/home#a?next=b", "https://example.com/"]),
    st.text(st.characters(max_codepoint=0x2FF), max_size=200),
)
def test_a_visitor_changes_neither_the_address_nor_a_parameter(location: str, query: str) -> None:
    before, after = urlsplit(location), urlsplit(with_forwarded(location, query))

    assert after[:3] == before[:3]
    assert after.fragment == before.fragment
    assert after.query.startswith(before.query)
    assert with_forwarded(location, query).isascii()
    assert with_forwarded(location, query).isprintable()
