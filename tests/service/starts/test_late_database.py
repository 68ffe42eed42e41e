"""A service that starts before its database is reachable."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testing.service.hosts import SECRET_KEY
from testing.service.limits import LONG_TIMEOUTS
from testing.service.postgresql.outages import database_server
from testing.service.running import Service, eventually

pytestmark = pytest.mark.slow


def test_a_service_with_a_statement_timeout_prepares_its_database_once_it_is_reachable(
    make_service: Callable[..., Service],
) -> None:
    with database_server() as server:
        service = make_service(DATABASE_URL=server.url, SECRET_KEY=SECRET_KEY, **LONG_TIMEOUTS)
        with server.away():
            service.launch()
            eventually(lambda: "Waiting for the database: " in service.stderr)
        eventually(service.is_healthy)
        assert service.create_link(service.owner.api_key)["isActive"] is True
