"""One account owns a name if many verify it concurrently."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from functools import partial
from threading import Barrier, BoundedSemaphore
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.services import NewAccount
from domains import services, verification
from domains.models import Domain
from testing.domains.dns_server import DnsServer
from testing.domains.domains import publish, status_of, verify
from testing.threads import at_once

ROUNDS = 20
EACH = 50

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def proof_succeeds(owner: Workspace, domain: dict[str, Any]) -> bool:
    try:
        return services.verify_domain(owner=owner, public_id=domain["_id"]).verified
    except services.DomainTaken:
        return False


@pytest.fixture
def many_files() -> Iterator[None]:
    """Raises the limit of open files: a hundred event loops, sockets and connections exceed the default."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_each_round_has_one_owner(
    alice: NewAccount,
    stranger: NewAccount,
    api: APIClient,
    strange_api: APIClient,
    dns: DnsServer,
    claim: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "VERIFICATIONS", services.Limit(attempts=EACH, seconds=3600))
    monkeypatch.setattr(verification, "CHECK_PLACES", BoundedSemaphore(2 * EACH))
    claims = {
        client: [claim(f"go{turn}.brand.example", client) for turn in range(ROUNDS)]
        for client in (api, strange_api)
    }
    for domain in (*claims[api], *claims[strange_api]):
        publish(dns, domain)
    start = Barrier(2 * EACH, timeout=300)

    def contend(owner: Workspace, domains: list[dict[str, Any]]) -> list[bool]:
        won = []
        for domain in domains:
            start.wait()
            won.append(proof_succeeds(owner, domain))
        return won

    sides = [
        partial(contend, alice.workspace, claims[api]),
        partial(contend, stranger.workspace, claims[strange_api]),
    ]
    won = at_once([side for side in sides for _ in range(EACH)])
    for turn in range(ROUNDS):
        first, second = ({outcomes[turn] for outcomes in half} for half in (won[:EACH], won[EACH:]))
        assert (first, second) in [({True}, {False}), ({False}, {True})], turn
        states = [status_of(client, domains[turn]) for client, domains in claims.items()]
        assert states == (["active", "pending"] if first == {True} else ["pending", "active"])
    assert Domain.objects.filter(status="active").count() == ROUNDS


def test_the_token_of_one_never_proves_the_claim_of_another(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Callable[..., dict[str, Any]]
) -> None:
    own_claim, other_claim = claim(), claim(client=strange_api)
    publish(dns, own_claim)
    for _ in range(3):
        refused, _ = at_once([partial(verify, strange_api, other_claim), partial(status_of, api, own_claim)])
        assert refused.status_code == 400
    assert verify(api, own_claim).status_code == 200
    assert verify(strange_api, other_claim).status_code == 409
