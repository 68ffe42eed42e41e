from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from pytest_django.fixtures import Settings

from links.health import hosts
from testing.domains.resolution import dns as dns
from testing.outbound.servers import RawServer, raw_server, silent


@pytest.fixture
def loopback(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks may call servers of the test, without a pause."""
    settings.OUTBOUND_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    monkeypatch.setattr(hosts, "PAUSE_SECONDS", 0.0)


@pytest.fixture
def server(loopback: None) -> Iterator[RawServer]:
    """A host whose manner a test changes: ``server.manner``."""
    with raw_server(silent) as running:
        yield running
