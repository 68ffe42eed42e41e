"""Deleting a domain with many links affects no other link; `python -m bench.domains` does it with 100,000."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testing.service.domain_deletion.customer import customer
from testing.service.domain_deletion.deletion import deleted
from testing.service.hosts import SECRET_KEY
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service

pytestmark = pytest.mark.slow

LINKS = 2_000


def test_deleting_a_large_domain_neither_disturbs_other_links_nor_loses_any(
    make_service: Callable[..., Service], make_database: Callable[[], str]
) -> None:
    database = make_database()
    service = make_service(DATABASE_URL=database, SECRET_KEY=SECRET_KEY, **LONG_TIMEOUTS)
    service.start()
    to_go = customer(database, LINKS)
    outcome = deleted(service, service.owner.api_key, to_go, around_seconds=0.5)
    assert outcome.failures == []
    assert outcome.message == (
        "Domain deleted successfully. 20 custom codes were already taken on the default domain and dropped."
    )
    assert outcome.going["before"].keys() == {302}
    assert outcome.going["during"].keys() <= {302, 404}
    assert outcome.going["after"].keys() == {404}
    assert outcome.lost == []
