"""Forged forwarding headers from untrusted clients are ignored: the peer's address counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from analytics.models import Kind
from testing.service.drainer import drainer_held
from testing.service.hosts import one_host
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service
from testing.visitors.forgeries import FORGERIES, forged, records
from tests.service.requests.hostile_visitor import Visitor

pytestmark = pytest.mark.slow

VISITS = 1000
LIMIT = 60
PEER = "127.0.0.1"


@pytest.fixture
def database(make_database: Callable[[], str]) -> str:
    return make_database()


# One per test: a network above the limit of guesses gets 429 for links that it has not followed before.
@pytest.fixture
def guarded(database: str) -> Iterator[Service]:
    """A service that trusts a proxy other than these clients."""
    options = {"TRUSTED_PROXIES": "10.0.0.0/8", "UNKNOWN_CODE_LIMIT": str(LIMIT), **LONG_TIMEOUTS}
    # The drainer overwrites counted records.
    with one_host(database, **options) as service, drainer_held(service):
        yield service


def visit(port: int, code: str, form: str, count: int) -> list[int]:
    """The statuses, over one connection while the server keeps it alive. The referrer identifies the header form."""
    referrer = f"Referer: https://{FORGERIES.index(form)}.example/"
    with closing(Visitor(port)) as visitor:
        return [visitor.call(f"/{code}", referrer, forged(form, number)).status for number in range(count)]


def test_of_twenty_thousand_forged_visits_each_is_recorded_with_its_peer(guarded: Service) -> None:
    code = guarded.create_link(guarded.owner.api_key)["shortCode"]
    statuses = Counter(status for form in FORGERIES for status in visit(guarded.port, code, form, VISITS))

    assert statuses == {302: 20_000}
    clicks = [record for record in records(guarded.var_dir / "clicks") if record.kind == Kind.CLICK]
    assert Counter((click.referrer, click.address) for click in clicks) == {
        (f"https://{form}.example/", PEER): VISITS for form in range(20)
    }


def test_all_forgeries_together_have_the_guesses_of_one_network(guarded: Service) -> None:
    began = time.monotonic()
    statuses = Counter(status for form in FORGERIES for status in visit(guarded.port, "nothing", form, 100))
    # The limit regains one guess per second.
    most = LIMIT + 1 + int((time.monotonic() - began) * LIMIT / 60)

    assert statuses.keys() == {404, 429}
    assert statuses.total() == 100 * len(FORGERIES)
    assert LIMIT <= statuses[404] <= most
