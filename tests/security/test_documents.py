"""What is written about security against the service itself: neither may outlive the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from accounts import services
from accounts.limits import Limit
from domains import proof, resolver
from domains import services as domain_services
from qrcodes import studio
from redirects import password
from shortener_project import gunicorn_conf

PROJECT = Path(__file__).parents[2]
SECURITY = (PROJECT / "SECURITY.md").read_text()
LISTED = """
    1.2.2 1.2.9 1.2.10 1.3.6 1.3.12 1.4.2 1.5.3 2.3.3 2.3.4 2.4.1 3.2.1 3.7.2 3.7.3 4.1.3 4.2.1 6.1.1 6.3.1 6.3.8
    7.4.1 8.2.1 8.2.2 8.4.1 9.1.1 9.1.2 9.1.3 9.2.1 9.2.2 11.2.4 11.4.2 11.5.1 13.1.2 13.1.3 13.2.6 14.2.1 14.2.2
    15.2.2 15.3.2 15.3.3 15.3.4 15.3.5 15.4.2 16.2.5 16.4.1 16.5.1 16.5.2 16.5.3 16.5.4
"""
REQUIREMENTS = LISTED.split()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (PROJECT / "docs/asvs.md").read_text().splitlines()
    if re.match(r"\| \d", line)
]


def test_every_requirement_has_its_row_in_order() -> None:
    assert len(REQUIREMENTS) == 47
    assert [row[0] for row in ROWS] == REQUIREMENTS
    assert [row[0] for row in ROWS if len(row) != 3 or not row[1]] == []


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_every_test_that_is_named_exists(row: list[str]) -> None:
    if row[2].startswith("None: "):
        return
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row[2])
    assert named
    assert " ".join(f"`{path}::{name}`" for path, name in named) == row[2]
    missing = [
        (path, name)
        for path, name in named
        if not re.search(rf"^def {name}\(", (PROJECT / path).read_text(), re.MULTILINE)
    ]
    assert missing == []


def limits_of(what: str) -> list[tuple[int, int]]:
    """(attempts, seconds) of a row of the table of limits; empty cells have none."""
    row = next(line for line in SECURITY.splitlines() if line.startswith(f"| {what} |"))
    seconds = {"15 minutes": 900, "an hour": 3600}
    return [
        (int(attempts), seconds[window])
        for attempts, window in re.findall(r"(\d+)(?: failures)? in ([\w ]+?) \|", row)
    ]


def numbers(*limits: Limit) -> list[tuple[int, int]]:
    return [(limit.attempts, limit.seconds) for limit in limits]


def test_the_limits_that_are_documented_are_those_in_force() -> None:
    """ASVS 6.1.1"""
    assert limits_of("passwords of an account") == numbers(
        services._LOGINS_PER_NETWORK, services._LOGINS_PER_ACCOUNT
    )
    assert limits_of("passwords of a link") == numbers(password._PER_NETWORK, password._PER_LINK)
    assert limits_of("verifications of a domain") == numbers(domain_services.VERIFICATIONS)


def test_the_bounds_that_are_documented_are_those_in_force() -> None:
    """ASVS 13.1.2, 13.1.3"""
    words = ["", "one", "two", "three", "four"]
    assert f"{words[gunicorn_conf.threads]} connections a worker" in SECURITY
    assert gunicorn_conf.settings.DATABASES["default"]["OPTIONS"]["connect_timeout"] == 2
    assert "2 s to connect, 2 s for a statement" in SECURITY
    assert f"{words[proof._AT_ONCE]} verifications at once" in SECURITY
    assert f"{resolver.DEADLINE_SECONDS:g} s over all queries" in SECURITY
    assert f"one at a time, {words[studio.ROOM - 1]} waiting" in SECURITY
    assert f"| {studio.PATIENCE_SECONDS:g} s |" in SECURITY
    assert f"| {words[password._HASHING._initial_value]} at a time in a worker" in SECURITY  # type: ignore[attr-defined]
    assert f"{gunicorn_conf.keepalive} s for an idle connection" in SECURITY
