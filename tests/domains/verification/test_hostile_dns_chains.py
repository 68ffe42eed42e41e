"""CNAME chains, mutated responses and responses without a question."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from dns import flags
from dns.message import Message, make_response
from rest_framework.test import APIClient

from common import resolver
from domains.models import Domain
from testing.domains.dns_server import DnsServer
from testing.domains.domains import verify
from tests.domains.verification.hostile_dns import CHALLENGE, HOST, answering, chain, reasons
from tests.domains.verification.hostile_dns import domain as domain
from tests.domains.verification.hostile_dns import real_deadline as real_deadline
from tests.domains.verification.hostile_dns import unlimited as unlimited

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


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
