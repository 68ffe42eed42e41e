"""DNS servers that respond with anything."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from dns import flags, rrset
from dns.message import Message, make_response
from rest_framework.test import APIClient

from common import resolver
from domains import services
from testing.domains.dns_server import DnsServer
from testing.domains.domains import publish, status_of, verify

HOST = "go.brand.example"
CHALLENGE = f"_shortener-challenge.{HOST}"
DEADLINE_SECONDS, TRY_SECONDS = resolver.DEADLINE_SECONDS, resolver.TRY_SECONDS
# The three seconds of a verification, plus slack for a busy machine.
LONGEST = DEADLINE_SECONDS + 60


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
