"""Verification against an attacker's name servers: bounded, with a clear error for every response."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from dns import flags, rrset
from dns.message import Message, make_response
from rest_framework.test import APIClient

from domains import services
from domains.models import Domain
from domains.verification import resolver
from testing.domains.dns_server import DnsServer
from testing.domains.domains import publish, status_of, verify

HOST = "go.brand.example"
CHALLENGE = f"_shortener-challenge.{HOST}"
DEADLINE_SECONDS, TRY_SECONDS = resolver.DEADLINE_SECONDS, resolver.TRY_SECONDS
# The three seconds of a verification, plus slack for a busy machine.
LONGEST = DEADLINE_SECONDS + 60

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "VERIFICATIONS", services.Limit(attempts=1_000, seconds=3600))


@pytest.fixture
def real_deadline(dns: DnsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The timeouts of the service, which `dns` lengthens for the tests that need a response."""
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", DEADLINE_SECONDS)
    monkeypatch.setattr(resolver, "TRY_SECONDS", TRY_SECONDS)


@pytest.fixture
def domain(claim: Callable[..., dict[str, Any]], dns: DnsServer) -> dict[str, Any]:
    """A claim with correct records, so that only the hostile response can fail it."""
    claimed = claim()
    publish(dns, claimed)
    return claimed


def reasons(client: APIClient, domain: dict[str, Any]) -> tuple[str | None, str | None]:
    """Verify and return both reasons. Asserts the deadline, a small response and an unchanged claim."""
    began = time.monotonic()
    response = verify(client, domain)
    assert time.monotonic() - began < LONGEST
    assert response.status_code == 400, response.content[:500]
    assert len(response.content) < 20_000
    assert response.json()["code"] == "dns_not_configured"
    assert status_of(client, domain) == "pending"
    challenge, address = response.json()["data"]["checks"]
    return challenge["reason"], address["reason"]


def answering(*records: tuple[str, str, list[str]]) -> Callable[[Message, str], bytes]:
    """Return the same answer section for every query. A long one is complete over TCP only."""

    def answer(query: Message, transport: str) -> bytes:
        response = make_response(query)
        for name, kind, values in records:
            response.answer.append(rrset.from_text(f"{name}.", 300, "IN", kind, *values))
        if transport == "UDP" and len(response.to_wire(max_size=65535)) > 1232:
            response = make_response(query)
            response.flags |= flags.TC
        return response.to_wire(max_size=65535)

    return answer


def chain(length: int) -> list[tuple[str, str, list[str]]]:
    names = [HOST, *(f"c{number}.brand.example" for number in range(length))]
    return [(name, "CNAME", [f"{target}."]) for name, target in pairwise(names)]


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


# CNAMEs


@pytest.mark.parametrize(
    "records",
    [
        [(HOST, "CNAME", [f"{HOST}."])],
        [(HOST, "CNAME", ["b.brand.example."]), ("b.brand.example", "CNAME", [f"{HOST}."])],
        [
            (HOST, "CNAME", ["b.brand.example."]),
            ("b.brand.example", "CNAME", ["c.brand.example."]),
            ("c.brand.example", "CNAME", ["b.brand.example."]),
        ],
        chain(30),
        chain(60),
    ],
    ids=["itself", "two", "a tail", "thirty", "sixty"],
)
@pytest.mark.parametrize("at_once", [False, True], ids=["one by one", "in one answer"])
def test_endless_cname_chains_are_refused(
    records: list[tuple[str, str, list[str]]],
    at_once: bool,
    api: APIClient,
    dns: DnsServer,
    domain: dict[str, Any],
) -> None:
    for name, kind, values in records:
        dns.set(name, kind, *values)
    if at_once:
        dns.hostile = answering(*records)
    assert reasons(api, domain)[1] in ("cname_loop", "too_large")


def test_a_txt_record_behind_a_loop(api: APIClient, dns: DnsServer, domain: dict[str, Any]) -> None:
    dns.remove(CHALLENGE, "TXT")
    other = "x.brand.example"
    dns.hostile = answering((CHALLENGE, "CNAME", [f"{other}."]), (other, "CNAME", [f"{CHALLENGE}."]))
    assert reasons(api, domain)[0] == "cname_loop"


# Anything


def mutations(seed: int) -> Callable[[Message, str], bytes | None]:
    """Correct responses with a few bytes changed, removed or repeated; the id mostly stays correct."""
    chance = random.Random(seed)

    def answer(query: Message, transport: str) -> bytes | None:
        right = answering((HOST, "CNAME", ["sho.rt."]), (CHALLENGE, "TXT", ['"x"']))(query, transport)
        wire = bytearray(right)
        for _ in range(chance.randint(1, 6)):
            wire[chance.randrange(2, len(wire))] = chance.choice([0, 1, 0x0C, 0x3F, 0xC0, 0xFF])
        if chance.random() < 0.2:
            del wire[chance.randrange(2, len(wire)) :]
        if chance.random() < 0.2:
            wire += wire[12:]
        return bytes(wire)

    return answer


def test_mutated_responses_never_cause_a_server_error(
    api: APIClient, dns: DnsServer, domain: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The resolver waits for a readable response until the deadline, so shorten it.
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", 0.1)
    for seed in range(150):
        dns.hostile = mutations(seed)
        response = verify(api, domain)
        assert response.status_code == 400, (seed, response.content)
    assert Domain.objects.get().status == "pending"


@pytest.mark.usefixtures("real_deadline")
@pytest.mark.parametrize("count", [0, 2])
def test_a_response_with_no_question_or_two_is_handled(
    count: int, api: APIClient, dns: DnsServer, domain: dict[str, Any]
) -> None:
    def answer(query: Message, transport: str) -> bytes:
        response = make_response(query)
        if transport == "UDP":
            response.flags |= flags.TC
        response.question = response.question * count
        return response.to_wire()

    dns.hostile = answer
    assert set(reasons(api, domain)) <= {"resolver_failed", "timed_out", "missing"}
