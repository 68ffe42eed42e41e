from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from testing.domains.resolution import dns as dns
from testing.outbound.fixtures import authority as authority
from testing.outbound.fixtures import loopback_networks as loopback_networks


@pytest.fixture
def loopback(settings: Settings, loopback_networks: None) -> None:
    """Requests may go to servers of the test, also without TLS."""
    settings.OUTBOUND_PLAIN_HTTP = True
