"""The resolver's timeouts on a busy host."""

from __future__ import annotations

import asyncio

import pytest

from common import resolver
from common.resolver import Answer, Lookup, Outcome
from testing.domains.dns_server import DnsServer
from testing.polling import eventually

# Long enough for what follows the stall: a thousand records over TCP, from a server that shares a busy processor.
DEADLINE = 60.0
NAME = "_shortener-challenge.go.brand.example"


def query_while_stalled(
    dns: DnsServer, stalled_seconds: float, method: str = "query", word: str = "TXT"
) -> Answer:
    """The event loop gets no processor time between sending the query and the timeout.

    The loop's clock jumps by ``stalled_seconds`` when the response has arrived.
    """

    async def main() -> Answer:
        loop = asyncio.get_running_loop()
        now, stalled = loop.time, False
        loop.time = lambda: now() + stalled_seconds * stalled
        pending = asyncio.create_task(getattr(Lookup(), method)(NAME, word))
        while not dns.queries:
            await asyncio.sleep(0)
        eventually(lambda: dns.silent or dns.replies, every=0.001)
        stalled = True
        return await pending

    return asyncio.run(main())


@pytest.mark.parametrize(
    "values",
    [['"token"'], [f'"{number:020}"' for number in range(1000)]],
    ids=["over UDP", "over TCP"],
)
def test_a_response_that_arrived_in_time_counts_even_if_read_late(
    dns: DnsServer, monkeypatch: pytest.MonkeyPatch, values: list[str]
) -> None:
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", DEADLINE)
    dns.set(NAME, "TXT", *values)
    result = query_while_stalled(dns, DEADLINE + 0.5)
    assert (result.outcome, len(result.values)) == (Outcome.FOUND, len(values))


def test_queries_after_a_stall_keep_their_remaining_time(
    dns: DnsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", DEADLINE)
    dns.set(NAME, "CNAME", "one.example.")
    dns.set("one.example", "CNAME", "sho.rt.")
    result = query_while_stalled(dns, DEADLINE + 0.5, "follow_cnames", "sho.rt")
    assert (result.outcome, result.cnames) == (Outcome.FOUND, ("one.example", "sho.rt"))


def test_a_silent_resolver_times_out_at_the_deadline(dns: DnsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", 0.2)
    dns.silent = True
    assert query_while_stalled(dns, 1.0).outcome is Outcome.TIMED_OUT
