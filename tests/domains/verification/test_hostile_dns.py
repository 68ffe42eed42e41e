"""Verification against an attacker's name servers: bounded, with a clear error for every response."""

from __future__ import annotations

from typing import Any

import pytest
from dns import flags
from dns.message import Message, make_response
from rest_framework.test import APIClient

from common import resolver
from testing.domains.dns_server import DnsServer
from testing.domains.domains import verify
from tests.domains.verification.hostile_dns import CHALLENGE, HOST, answering, chain, reasons
from tests.domains.verification.hostile_dns import domain as domain
from tests.domains.verification.hostile_dns import real_deadline as real_deadline
from tests.domains.verification.hostile_dns import unlimited as unlimited

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


# Large


def test_thousands_of_txt_records_are_too_large(
    api: APIClient, dns: DnsServer, domain: dict[str, Any]
) -> None:
    dns.set(CHALLENGE, "TXT", *(f'"{number:0200}"' for number in range(290)))
    challenge, _ = reasons(api, domain)
    assert challenge == "wrong_value"
    assert {transport for name, _, transport in dns.queries if name == CHALLENGE} == {"UDP", "TCP"}


def test_all_responses_share_one_byte_budget(api: APIClient, dns: DnsServer, domain: dict[str, Any]) -> None:
    large = [f'"{number:0250}"' for number in range(240)]
    dns.hostile = answering((HOST, "TXT", large))
    assert "too_large" in reasons(api, domain)


def test_the_right_value_among_many_is_found(api: APIClient, dns: DnsServer, domain: dict[str, Any]) -> None:
    token = domain["dnsRecords"][0]["value"]
    dns.set(CHALLENGE, "TXT", *(f'"{number:0100}"' for number in range(200)), f'"{token}"')
    assert verify(api, domain).status_code == 200


def test_long_records_are_truncated_in_the_response(
    api: APIClient, dns: DnsServer, domain: dict[str, Any]
) -> None:
    dns.set(CHALLENGE, "TXT", " ".join(['"' + "\\255\\000" * 120 + '"'] * 20))
    assert reasons(api, domain)[0] == "wrong_value"


# TCP


@pytest.mark.usefixtures("real_deadline")
@pytest.mark.parametrize("wrong_length", [1, 60_000, -10])
def test_a_wrong_tcp_length_prefix_is_refused(
    wrong_length: int, api: APIClient, dns: DnsServer, domain: dict[str, Any]
) -> None:
    dns.truncate, dns.wrong_length = True, wrong_length
    assert set(reasons(api, domain)) <= {"resolver_failed", "timed_out"}


@pytest.mark.usefixtures("real_deadline")
def test_a_slow_trickle_over_tcp_times_out(api: APIClient, dns: DnsServer, domain: dict[str, Any]) -> None:
    dns.truncate, dns.drip = True, 1.0
    assert reasons(api, domain) == ("timed_out", "timed_out")


@pytest.mark.usefixtures("real_deadline")
def test_a_silent_tcp_server_times_out(api: APIClient, dns: DnsServer, domain: dict[str, Any]) -> None:
    dns.truncate = dns.silent_tcp = True
    assert reasons(api, domain) == ("timed_out", "timed_out")


def test_the_truncation_flag_is_ignored_over_tcp(
    api: APIClient, dns: DnsServer, domain: dict[str, Any]
) -> None:
    def cut_off(query: Message, transport: str) -> bytes:
        response = make_response(query)
        response.flags |= flags.TC
        return response.to_wire()

    dns.hostile = cut_off
    assert reasons(api, domain) == ("missing", "missing")


# Slow


@pytest.mark.usefixtures("real_deadline")
def test_slow_responses_share_one_deadline(
    api: APIClient, dns: DnsServer, domain: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The responses take a multiple of the deadline, which a busy machine lengthens.
    monkeypatch.setattr(resolver, "MAX_CNAMES", 100)
    dns.delay = 0.8
    for name, kind, values in chain(60):
        dns.set(name, kind, *values)
    assert reasons(api, domain)[1] == "timed_out"


def test_a_flood_of_unrelated_datagrams_is_ignored(
    api: APIClient, dns: DnsServer, domain: dict[str, Any]
) -> None:
    dns.flood = 100
    assert verify(api, domain).status_code == 200


@pytest.mark.usefixtures("real_deadline")
def test_a_flood_without_a_response_ends_at_the_deadline(
    api: APIClient, dns: DnsServer, domain: dict[str, Any]
) -> None:
    dns.flood = 100
    dns.hostile = lambda query, transport: b"\xff" * 30
    assert set(reasons(api, domain)) <= {"timed_out", "resolver_failed"}
