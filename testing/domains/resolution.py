"""The DNS server of a test as the service's only resolver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from common import resolver
from testing.domains.dns_server import DnsServer, dns_server


@pytest.fixture
def dns(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[DnsServer]:
    """The only resolver that the service queries. It shares this process, so it gets time on a busy machine, too."""
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", 60.0)
    monkeypatch.setattr(resolver, "TRY_SECONDS", 30.0)
    with dns_server() as server:
        settings.DNS_RESOLVERS = [server.address]
        server.zones += ["brand.example", "sho.rt"]
        yield server
