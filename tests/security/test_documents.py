"""The documents about security agree with the service."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

from accounts import (
    admission,
    api_keys,
    downloads,
    invitations,
    mails,
    password_hashing,
    second_factor,
    services,
)
from accounts import workspaces as workspace_services
from accounts.sessions import lifecycle
from common import resolver
from common.errors import MAX_REPORTED
from domains import services as domain_services
from domains import verification
from limits import guessing
from limits.attempts import Limit
from links.bulk import serializers
from links.bulk import services as bulk
from qrcodes import drawing
from shortener_project import gunicorn_conf
from shortener_project.configuration.database import database_settings
from sign_in import adapters
from sign_in.openid_connect import conversations, protocol

PROJECT = Path(__file__).parents[2]
SECURITY = (PROJECT / "docs/security-model.md").read_text()
UNWRAPPED_SECURITY = " ".join(SECURITY.split())
LISTED = """
    1.2.2 1.2.9 1.2.10 1.3.6 1.3.12 1.4.2 1.5.3 2.3.3 2.3.4 2.4.1 3.2.1 3.7.2 3.7.3 4.1.3 4.2.1 6.1.1 6.3.1 6.3.4
    6.3.8 6.5.1 6.5.2 6.6.3 6.7.2 6.8.1 7.2.4 7.3.2 7.4.1 7.4.3 7.5.3 8.2.1 8.2.2 8.3.2 8.4.1 9.1.1 9.1.2 9.1.3
    9.2.1 9.2.2 10.1.2 10.2.1 10.2.3 10.5.1 10.5.2 10.5.3 11.2.4 11.4.2 11.5.1 13.1.2 13.1.3 13.2.6 14.2.1 14.2.2
    15.2.2 15.3.2 15.3.3
    15.3.4 15.3.5 15.4.2 16.2.5 16.4.1 16.5.1 16.5.2 16.5.3 16.5.4
"""
REQUIREMENTS = LISTED.split()
ROWS = re.findall(
    r"^- \*\*([\d.]+)\*\* (.+): ((?:`[\w/]+\.py` ?)+)$", (PROJECT / "docs/asvs.md").read_text(), re.MULTILINE
)


def test_every_requirement_has_its_row_in_order() -> None:
    assert len(REQUIREMENTS) == 64
    assert [number for number, _, _ in ROWS] == REQUIREMENTS


def test_every_named_file_has_tests() -> None:
    named = {path for _, _, paths in ROWS for path in re.findall(r"`(.+?)`", paths)}
    assert [
        path for path in sorted(named) if "\ndef test_" not in (PROJECT / "tests" / path).read_text()
    ] == []


def limits_of(subject: str) -> list[tuple[int, int]]:
    """(attempts, seconds) of a row of the table of limits; empty cells have none."""
    row = next(line for line in SECURITY.splitlines() if line.startswith(f"| {subject} |"))
    seconds = {"15 minutes": 900, "an hour": 3600}
    return [
        (int(attempts), seconds[window])
        for attempts, window in re.findall(r"(\d+)(?: failures)? in ([\w ]+?) \|", row)
    ]


def numbers(*limits: Limit) -> list[tuple[int, int]]:
    return [(limit.attempts, limit.seconds) for limit in limits]


def test_the_documented_limits_are_those_of_the_code() -> None:
    """ASVS 6.1.1"""
    guesses = numbers(guessing.PER_NETWORK, guessing.UNDER_ATTACK, guessing.STRICT)
    assert limits_of("passwords of an account") == guesses
    assert limits_of("passwords of a link") == guesses
    assert (
        f"{guessing.PER_SITE.attempts} failures an hour for an IPv6 /48, {guessing.PER_PROVIDER.attempts} "
        "for an IPv6 /32 or an IPv4 /16"
    ) in UNWRAPPED_SECURITY
    assert (
        f"(for an account within {services.LOGIN_KNOWN_FOR.days} days, for a link within"
        in UNWRAPPED_SECURITY
    )
    assert numbers(adapters.FAILURES_ALLOWED, second_factor.FAILURES_ALLOWED) == [(5, 900)] * 2
    assert "The login page allows 5 failures instead of 10" in UNWRAPPED_SECURITY
    assert "After 5 wrong codes of a second factor in 15 minutes" in UNWRAPPED_SECURITY
    assert numbers(mails.MAILS_TO_ADDRESS, mails.MAILS_BY_CAUSE) == [(5, 3600), (20, 3600)]
    assert (
        "at most 5 mails about passwords, sign-ups and invitations to one address in an hour, and 20"
        in UNWRAPPED_SECURITY
    )
    assert numbers(mails.NOTICES_TO_OWNER) == [(20, 3600)]
    assert "are limited apart (20 an hour)" in UNWRAPPED_SECURITY
    assert (
        f"After {second_factor.FAILURES_IN_A_ROW} in a row, codes of the app are refused"
        in UNWRAPPED_SECURITY
    )
    minutes = lifecycle.CONFIRMED_FOR.seconds // 60
    allowed = "creates and replaces keys, and gives them more rights, only within"
    assert f"{allowed} {minutes} minutes of a login or its confirmation" in UNWRAPPED_SECURITY
    assert limits_of("verifications of a domain") == numbers(domain_services.VERIFICATIONS)


def test_the_documented_bounds_are_those_of_the_code() -> None:
    """ASVS 13.1.2, 13.1.3"""
    words = ["", "one", "two", "three", "four", "five", "six", "seven", "eight"]
    assert f"{words[gunicorn_conf.threads]} connections a worker" in SECURITY
    # The tests' own settings allow more.
    database = database_settings(
        "postgres://db.example/links", statement_timeout=0, idle_transaction_timeout=0, lock_timeout=0
    )
    assert database["OPTIONS"]["connect_timeout"] == 2
    assert "2 s to connect, 2 s for a statement" in SECURITY
    assert f"{words[verification.MAX_CONCURRENT_CHECKS]} verifications at once" in SECURITY
    assert f"{resolver.DEADLINE_SECONDS:g} s over all queries" in SECURITY
    assert f"{words[conversations.AT_ONCE]} logins at once in a worker; 1 MB for an answer" in SECURITY
    assert conversations.MAX_BYTES == 1024**2
    assert gunicorn_conf.threads > conversations.AT_ONCE
    assert protocol.CACHE_SECONDS == 10 * 60
    assert f"| {settings.OIDC_SECONDS:g} s over all requests of a login |" in SECURITY
    kept = f"{drawing.KEPT_BYTES // 1024**2} MB of drawn images are kept"
    seconds = f"{drawing.TIMEOUT_SECONDS:g} s in the queue, {drawing.TIMEOUT_SECONDS:g} s for the drawing"
    assert f"one at a time, {words[drawing.WAITING]} waiting, in a worker; {kept} | {seconds} |" in SECURITY
    accounts, links = password_hashing.account_hashing, password_hashing.link_hashing
    admitted = (
        f"{words[accounts.at_once]} calls for accounts, {words[accounts.places]} waiting;"
        f" {words[links.at_once]} for links, {words[links.places]} waiting"
    )
    hashed = f"{words[password_hashing.AT_ONCE]} at a time in a worker: {admitted}"
    assert f"| {hashed} | {password_hashing.WAIT_SECONDS:g} s |" in SECURITY
    in_all, of_one = words[admission.PER_PROCESS], words[admission.PER_ACCOUNT]
    assert (
        f"| calls with many links | {in_all} in a worker, with costly reports; {of_one} of an account over all hosts |"
        in SECURITY
    )
    reports, exports = words[admission.REPORTS_PER_WORKSPACE], words[downloads.PER_WORKSPACE]
    of_account = words[downloads.PER_ACCOUNT]
    public = words[admission.PUBLIC_REPORTS_PER_WORKSPACE]
    of_workspace = f"{reports} of a workspace, and {public} by readers of shared ones"
    assert (
        f"| costly reports; exports | {of_workspace}; {exports}, and {of_account} of an account |" in SECURITY
    )
    assert downloads.MAX_SECONDS == 600
    occupied = [
        queued.at_once + queued.places for queued in (accounts, links, drawing.drawing_queue.admission)
    ]
    assert max(*occupied, admission.PER_PROCESS) < gunicorn_conf.threads
    assert (
        f"have at most {serializers.MAX_CHANGES // 1024**2} MB, counted once for each link"
        in UNWRAPPED_SECURITY
    )
    assert f"An account has at most {lifecycle.MAX_SESSIONS} sessions;" in UNWRAPPED_SECURITY
    assert (
        f"An account is a member of at most {workspace_services.MAX_MEMBERSHIPS:,} workspaces; a workspace has at most"
        f" {invitations.MAX_MEMBERS:,} members and {invitations.MAX_PENDING} pending invitations, and a member,"
        f" like a team, at most {api_keys.MAX_KEYS} keys."
    ) in UNWRAPPED_SECURITY
    assert f"Within {lifecycle.GRACE.seconds} seconds it gets the same tokens" in UNWRAPPED_SECURITY
    assert f"At most {MAX_REPORTED} broken rules are reported" in UNWRAPPED_SECURITY
    assert f"at most {bulk.MAX_ERRORS:,} in a response" in UNWRAPPED_SECURITY
    assert f"{gunicorn_conf.keepalive} s idle |" in SECURITY
