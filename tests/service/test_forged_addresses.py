"""Whatever a stranger says of where it comes from, on the wire: the address that counts is the peer's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest

from analytics.models import Kind
from bench.running import drainer_held
from tests.redirects.forgeries import FORGERIES, forged, records
from tests.service.hosts import one_host
from tests.service.running import Service
from tests.service.test_hostile_visitors import Visitor

VISITS = 1000
LIMIT = 60
PEER = "127.0.0.1"


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def guarded(database: str) -> Iterator[Service]:
    """It trusts a proxy, which is somebody else."""
    limits = {"TRUSTED_PROXIES": "10.0.0.0/8", "UNKNOWN_CODE_LIMIT": str(LIMIT)}
    # What is counted is overwritten.
    with one_host(database, **limits) as service, drainer_held(service):
        yield service


def visit(port: int, code: str, form: str, count: int) -> list[int]:
    """The statuses, over one connection for as long as the server keeps it. The referrer says which form it was."""
    referrer = f"Referer: https://{FORGERIES.index(form)}.example/"
    with closing(Visitor(port)) as visitor:
        return [visitor.ask(f"/{code}", referrer, forged(form, number)).status for number in range(count)]


def test_of_twenty_thousand_forged_visits_each_is_recorded_with_its_peer(guarded: Service) -> None:
    code = guarded.create_link(guarded.owner.api_key)["shortCode"]
    statuses = Counter(status for form in FORGERIES for status in visit(guarded.port, code, form, VISITS))

    assert statuses == {302: 20_000}
    clicks = [each for each in records(guarded.var_dir / "clicks") if each.kind == Kind.CLICK]
    assert Counter((each.referrer, each.address) for each in clicks) == {
        (f"https://{form}.example/", PEER): VISITS for form in range(20)
    }


@pytest.mark.parametrize("form", FORGERIES)
def test_the_limit_of_guesses_holds_at_the_same_count_for_every_forgery(
    guarded: Service, database: str, form: str
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DELETE FROM accounts_attemptlog")

    assert visit(guarded.port, "nothing", form, 100) == [404] * LIMIT + [429] * (100 - LIMIT)
