"""Fixtures of tests in which the service calls servers of the test."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from common.outbound.connections import tls_context
from testing.outbound.certificates import Authority


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authority]:
    """An authority whose certificates requests trust."""
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    tls_context.cache_clear()
    yield authority
    tls_context.cache_clear()


@pytest.fixture
def loopback_networks(settings: Settings) -> None:
    """Requests may go to servers of the test."""
    settings.OUTBOUND_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8"), ip_network("::1/128")]
