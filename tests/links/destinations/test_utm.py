from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.http.urls import canonical_destination
from links.destinations.utm import UTM_KEYS, with_utm
from testing.cases import for_each

ALL_FIVE = {"content": "e", "term": "d", "campaign": "c", "medium": "b", "source": "a"}


@for_each(
    ("href", "utm", "expected"),
    [
        # Appended after what is there, the fragment last.
        ("https://a.example/", {"source": "x"}, "https://a.example/?utm_source=x"),
        ("https://a.example/p?q=1", {"source": "x"}, "https://a.example/p?q=1&utm_source=x"),
        ("https://a.example/p#top", {"source": "x"}, "https://a.example/p?utm_source=x#top"),
        ("https://a.example/p?q=1#top", {"source": "x"}, "https://a.example/p?q=1&utm_source=x#top"),
        (
            "https://a.example/",
            ALL_FIVE,
            "https://a.example/?utm_source=a&utm_medium=b&utm_campaign=c&utm_term=d&utm_content=e",
        ),
        # A question mark in the fragment or in the query starts no new query.
        ("https://a.example/p#/r?q=1", {"source": "x"}, "https://a.example/p?utm_source=x#/r?q=1"),
        ("https://a.example/?a?b=1", {"source": "x"}, "https://a.example/?a?b=1&utm_source=x"),
        ("https://a.example/p?q=1#a#b", {"source": "x"}, "https://a.example/p?q=1&utm_source=x#a#b"),
        ("https://a.example/p#", {"source": "x"}, "https://a.example/p?utm_source=x#"),
        (
            "https://a.example/p#utm_source=old",
            {"source": "x"},
            "https://a.example/p?utm_source=x#utm_source=old",
        ),
        # Empty pieces between separators are not parameters.
        ("https://a.example/p?", {"source": "x"}, "https://a.example/p?utm_source=x"),
        ("https://a.example/p?#top", {"source": "x"}, "https://a.example/p?utm_source=x#top"),
        ("https://a.example/p?&&", {"source": "x"}, "https://a.example/p?utm_source=x"),
        ("https://a.example/p?a=1&&b=2&", {"source": "x"}, "https://a.example/p?a=1&b=2&utm_source=x"),
        # All occurrences of a name are replaced, in any encoding.
        ("https://a.example/?utm_source=old", {"source": "x"}, "https://a.example/?utm_source=x"),
        (
            "https://a.example/?utm_source=1&a=1&utm_source=2&b=2&utm_source=3",
            {"source": "x"},
            "https://a.example/?a=1&b=2&utm_source=x",
        ),
        ("https://a.example/?utm%5Fsource=old", {"source": "x"}, "https://a.example/?utm_source=x"),
        ("https://a.example/?utm%5fsource=old", {"source": "x"}, "https://a.example/?utm_source=x"),
        ("https://a.example/?%75%74m_sourc%65=old", {"source": "x"}, "https://a.example/?utm_source=x"),
        ("https://a.example/?utm_source", {"source": "x"}, "https://a.example/?utm_source=x"),
        ("https://a.example/?utm_source=", {"source": "x"}, "https://a.example/?utm_source=x"),
        ("https://a.example/?utm_source=a=b", {"source": "x"}, "https://a.example/?utm_source=x"),
        # Names that differ after decoding, and utm parameters the link does not set, are left alone.
        (
            "https://a.example/?utm_medium=old&utm_source=old",
            {"source": "x"},
            "https://a.example/?utm_medium=old&utm_source=x",
        ),
        (
            "https://a.example/?UTM_SOURCE=1&utm+source=2&+utm_source=3&utm_sources=4&utm-source=5",
            {"source": "x"},
            "https://a.example/?UTM_SOURCE=1&utm+source=2&+utm_source=3&utm_sources=4&utm-source=5&utm_source=x",
        ),
        (
            "https://a.example/?utm%255Fsource=1&utm_source%00=2",
            {"source": "x"},
            "https://a.example/?utm%255Fsource=1&utm_source%00=2&utm_source=x",
        ),
        (
            "https://a.example/?q=utm_source=1;utm_source=2",
            {"source": "x"},
            "https://a.example/?q=utm_source=1;utm_source=2&utm_source=x",
        ),
        # Other parameters stay unchanged byte for byte: order, repetition, case of escapes, broken escapes.
        (
            "https://a.example/?b=%c3%a9&a=+%20&b=2&=&%&%zz=%f&c[]=1&sig=a%2Fb%3D",
            {"term": "x"},
            "https://a.example/?b=%c3%a9&a=+%20&b=2&=&%&%zz=%f&c[]=1&sig=a%2Fb%3D&utm_term=x",
        ),
        # Values are data: their characters are never parsed as syntax.
        ("https://a.example/", {"source": "spring sale"}, "https://a.example/?utm_source=spring%20sale"),
        ("https://a.example/", {"source": "a+b"}, "https://a.example/?utm_source=a%2Bb"),
        (
            "https://a.example/#f",
            {"source": "a&b=c#d?e/f%20"},
            "https://a.example/?utm_source=a%26b%3Dc%23d%3Fe%2Ff%2520#f",
        ),
        (
            "https://a.example/",
            {"source": "\u00e9\U0001f600"},
            "https://a.example/?utm_source=%C3%A9%F0%9F%98%80",
        ),
        (
            "https://a.example/",
            {"source": "a\r\nSet-Cookie: b"},
            "https://a.example/?utm_source=a%0D%0ASet-Cookie%3A%20b",
        ),
        ("https://a.example/", {"source": "-._~"}, "https://a.example/?utm_source=-._~"),
        ("https://a.example/", {"source": " "}, "https://a.example/?utm_source=%20"),
        # An empty value sets nothing and replaces nothing.
        (
            "https://a.example/?utm_source=old",
            {"source": "", "medium": "x"},
            "https://a.example/?utm_source=old&utm_medium=x",
        ),
    ],
)
def test_utm_parameters_are_set(href: str, utm: dict[str, str], expected: str) -> None:
    assert with_utm(href, utm) == expected


@pytest.mark.parametrize("utm", [{}, {"source": ""}, dict.fromkeys(UTM_KEYS, "")])
@pytest.mark.parametrize(
    "href",
    [
        "https://a.example/",
        "https://a.example/?",
        "https://a.example/?&&a=1&utm_source=old#",
        "https://a.example/#",
    ],
)
def test_without_values_the_destination_is_unchanged(href: str, utm: dict[str, str]) -> None:
    assert with_utm(href, utm) == href


hrefs = st.tuples(
    st.text("abu%5F?&=+;_#", max_size=20), st.sampled_from(["", "utm_source=1", "utm%5Fterm"])
).map(lambda parts: canonical_destination("https://a.example/?" + "&".join(parts)).href)
campaigns = st.dictionaries(
    st.sampled_from(UTM_KEYS), st.text(max_size=8).filter(lambda text: text.isprintable())
)


@given(hrefs, campaigns)
@pytest.mark.slow
def test_the_result_is_canonical_and_reads_back_as_the_values(href: str, utm: dict[str, str]) -> None:
    result = with_utm(href, utm)

    assert canonical_destination(result).href == result
    read_back = parse_qsl(urlsplit(result).query)
    for key, value in utm.items():
        if value:
            assert [text for name, text in read_back if name == f"utm_{key}"] == [value]
    assert urlsplit(result).fragment == urlsplit(href).fragment
    assert with_utm(result, utm) == result
