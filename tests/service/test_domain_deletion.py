"""Deleting a domain with many links is nobody else's affair; `python -m bench.domains` does it with 100,000."""

from __future__ import annotations

from collections.abc import Callable

from bench.domains.customer import customer
from bench.domains.deletion import deleted
from tests.service.hosts import SECRET_KEY
from tests.service.running import Service

LINKS = 2_000


def test_a_domain_with_many_links_goes_unnoticed_by_other_visitors_and_loses_none(
    make_service: Callable[..., Service], make_database: Callable[[], str]
) -> None:
    database = make_database()
    service = make_service(DATABASE_URL=database, SECRET_KEY=SECRET_KEY)
    service.start()
    to_go = customer(database, LINKS)
    outcome = deleted(service, service.owner.api_key, to_go, around_seconds=0.5)
    assert outcome.failures == []
    assert outcome.message == (
        "Domain deleted successfully. 20 custom codes were taken on the default domain already, and dropped."
    )
    assert outcome.going["before"].keys() == {302}
    assert outcome.going["during"].keys() <= {302, 404}
    assert outcome.going["after"].keys() == {404}
    assert outcome.lost == []
