"""Long and hostile user agents."""

import pytest

from analytics.visitors.useragent import parse_agent


def test_characters_beyond_512_are_ignored() -> None:
    assert parse_agent("x" * 512 + " Googlebot/2.1").is_crawler is False
    assert parse_agent("x" * 498 + " Googlebot/2.1").is_crawler is True


def test_long_browser_name_is_truncated() -> None:
    assert parse_agent("A" * 300 + "/1 CFNetwork/3826.400.120 Darwin/24.3.0").browser == "A" * 64


@pytest.mark.parametrize(
    "hostile",
    [
        "A" * 8192,
        "Chrome/" + "0" * 8000,
        "bot" * 3000,
        "Mozilla/5.0 (" * 700,
        "macintosh" * 1000,
        "Android ;" * 900,
        "compatible; " * 800,
        "(" * 8192,
        "a-tv" * 2000,
        "\x00" * 8192,
        " " * 8192,
        "€" * 8192,
        "${jndi:ldap://x}" * 500,
    ],
)
def test_hostile_agent_of_8_kb_is_parsed_like_its_first_512_characters(hostile: str) -> None:
    assert parse_agent(hostile) == parse_agent(hostile[:512])
