"""What a robots.txt allows (RFC 9309), also if somebody wrote it to do harm."""

from __future__ import annotations

import pytest

from common.outbound.requests import AGENT
from links.health.robots import allows

HOSTILE = (
    "Crawl-delay: ²",
    f"Crawl-delay: {'9' * 5000}",
    "Request-rate: ²/1",
    "Disallow: //[x",
    "Disallow: %",
    ":",
    "Disallow",
    "User-agent:",
    f"Disallow: /{'*a' * 10_000}*b",
    "".join(f"User-agent:{number:x}\n" for number in range(2200)) + "Allow:/1\n" * 3000,
)


@pytest.mark.parametrize(
    ("rules", "allowed", "forbidden"),
    [
        ("Disallow: /", "", "/ /a /a?b"),
        ("Disallow:", "/ /a", ""),
        ("Disallow: /*", "", "/ /a"),
        ("Disallow: /*?", "/ /a", "/? /a?b"),
        ("Allow: /\nDisallow: /a", "/ /b", "/a /ab"),
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", "/a /a/c"),
        ("Disallow: /a\nAllow: /a", "/a", ""),
        ("Disallow: /*.php$", "/a.php/ /a.php?b /php", "/a.php /b/c.php /.php"),
        ("Disallow: /a*b*a$", "/aba/ /ab /aa", "/aba /axbya"),
        ("Disallow: /a$", "/ab /a/", "/a"),
        ("Allow: /$\nDisallow: /", "/", "/a"),
        ("disallow : /a # not b", "/b", "/a"),
        ("Disallow: /caf\u00e9/%7euser", "/cafe", "/caf%C3%A9/~user /caf%c3%a9/%7Euser"),
        ("Disallow: /a%2Fb", "/a/b", "/a%2fb"),
        ("Disallow: /A", "/a", "/A"),
        ("Disallow: /a\nSitemap: x\nDisallow: /b", "", "/a /b"),
        ("Disallow: /a\rDisallow: /b\x85c", "", "/a"),
    ],
)
def test_the_longest_rule_decides(rules: str, allowed: str, forbidden: str) -> None:
    for start in (
        "User-agent: *\n",
        "\ufeffUSER-AGENT:*\n",
        "User-agent: other\nUser-agent: url-shortener/2\n",
    ):
        found = {path: allows(start + rules, path, AGENT) for path in (*allowed.split(), *forbidden.split())}
        assert found == dict.fromkeys(allowed.split(), True) | dict.fromkeys(forbidden.split(), False)


def test_the_groups_that_name_the_program_replace_those_for_all() -> None:
    robots = (
        "Disallow: /nobody\nUser-agent: *\nDisallow: /every\nUser-agent: URL-shortener-2\nDisallow: /other\n"
        "User-agent: URL-shortener\nDisallow: /a\nUser-agent: x\nUser-agent: url-shortener\nDisallow: /b\n"
    )
    paths = ("/nobody", "/every", "/other", "/a", "/b")
    assert [allows(robots, path, AGENT) for path in paths] == [True, True, True, False, False]
    assert [allows(robots, path, "Unknown") for path in paths] == [True, False, True, True, True]
    assert allows("User-agent: *\nDisallow: /\nUser-agent: URL-shortener\n", "/", AGENT)


@pytest.mark.parametrize("line", HOSTILE)
def test_no_line_of_a_hostile_file_hides_the_others(line: str) -> None:
    robots = f"User-agent: *\n{line}\n\nUser-agent: *\nDisallow: /a\n"
    assert [allows(robots, path, AGENT) for path in ("/a", "/b" + "a" * 2000)] == [False, True]
