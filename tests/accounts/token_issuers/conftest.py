from __future__ import annotations

from collections.abc import Iterator

import pytest

from accounts.token_issuers import tokens
from accounts.token_issuers.issuer_keys import IssuerKeys
from testing.accounts.issuers import Issuer, running_issuer
from testing.outbound.certificates import Authority
from testing.outbound.fixtures import authority as authority
from testing.outbound.fixtures import loopback_networks as loopback_networks


class Clock:
    """Seconds that a test lets pass."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of a process that knows no keys yet."""
    clock = Clock()
    monkeypatch.setattr(tokens, "ISSUER_KEYS", IssuerKeys(clock=clock))
    return clock


@pytest.fixture
def issuer(authority: Authority, loopback_networks: None, clock: Clock) -> Iterator[Issuer]:
    with running_issuer(authority) as (issuer, _):
        yield issuer
