"""Who owns a name when many prove it at the same moment."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from functools import partial
from threading import Barrier, BoundedSemaphore
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import NewAccount
from domains import proof, resolver, services
from domains.models import Domain
from tests.domains.conftest import publish, status_of, verify
from tests.domains.dns_server import DnsServer
from tests.links.threads import at_once

ROUNDS = 20
EACH = 50

pytestmark = pytest.mark.django_db(transaction=True)


def proves(owner: User, domain: dict[str, Any]) -> bool:
    try:
        return services.verify_domain(owner=owner, public_id=domain["_id"]).verified
    except services.DomainTaken:
        return False


@pytest.fixture
def many_files() -> Iterator[None]:
    """A hundred event loops, sockets and connections are more than an ordinary account may have open at first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# A thousand verifications each side, which takes its time on a busy machine.
@pytest.mark.timeout(400)
@pytest.mark.usefixtures("many_files")
def test_each_round_has_one_owner(  # noqa: PLR0917 # fixtures
    alice: NewAccount,
    stranger: NewAccount,
    api: APIClient,
    strange_api: APIClient,
    dns: DnsServer,
    claim: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "VERIFICATIONS", services.Limit(attempts=EACH, seconds=3600))
    monkeypatch.setattr(proof, "_SLOTS", BoundedSemaphore(2 * EACH))
    # A hundred at once and their name server share this process, whose time is not what is tried here.
    monkeypatch.setattr(resolver, "DEADLINE_SECONDS", 120.0)
    claims = {
        client: [claim(f"go{turn}.brand.example", client) for turn in range(ROUNDS)]
        for client in (api, strange_api)
    }
    for domain in (*claims[api], *claims[strange_api]):
        publish(dns, domain)
    start = Barrier(2 * EACH, timeout=300)

    def contend(owner: User, domains: list[dict[str, Any]]) -> list[bool]:
        won = []
        for domain in domains:
            start.wait()
            won.append(proves(owner, domain))
        return won

    sides = [partial(contend, alice.user, claims[api]), partial(contend, stranger.user, claims[strange_api])]
    won = at_once([side for side in sides for _ in range(EACH)])
    for turn in range(ROUNDS):
        mine, theirs = ({each[turn] for each in half} for half in (won[:EACH], won[EACH:]))
        assert (mine, theirs) in [({True}, {False}), ({False}, {True})], turn
        states = [status_of(client, domains[turn]) for client, domains in claims.items()]
        assert states == (["active", "pending"] if mine == {True} else ["pending", "active"])
    assert Domain.objects.filter(status="active").count() == ROUNDS


def test_the_token_of_one_never_proves_the_claim_of_another(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Callable[..., dict[str, Any]]
) -> None:
    mine, theirs = claim(), claim(client=strange_api)
    publish(dns, mine)
    for _ in range(3):
        refused, _ = at_once([partial(verify, strange_api, theirs), partial(status_of, api, mine)])
        assert refused.status_code == 400
    assert verify(api, mine).status_code == 200
    assert verify(strange_api, theirs).status_code == 409
