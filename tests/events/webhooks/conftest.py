from __future__ import annotations

from ipaddress import ip_network

import pytest
from pytest_django.fixtures import Settings


@pytest.fixture(autouse=True)
def loopback(settings: Settings) -> None:
    """Requests may go to receivers of the test."""
    settings.OUTBOUND_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    settings.OUTBOUND_PLAIN_HTTP = True
