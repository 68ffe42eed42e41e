from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

PASSWORD = "open sesame"
THREADS = 16
Simulate = Callable[..., dict[str, Any]]


@pytest.fixture
def link(make_link: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """A link with a password."""
    return make_link(password=PASSWORD)


@pytest.fixture
def path(link: dict[str, Any]) -> str:
    """The path of the link with a password."""
    return f"/{link['shortCode']}"


@pytest.fixture
def threads(transactional_db: None) -> Iterator[ThreadPoolExecutor]:
    """Threads with a persistent connection each, like a server's, that switch as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    barrier = Barrier(THREADS)

    def disconnect(_: int) -> None:
        barrier.wait()
        connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        yield pool
        list(pool.map(disconnect, range(THREADS)))
    sys.setswitchinterval(interval)


@pytest.fixture
def simulate(api: APIClient) -> Simulate:
    def call(link: dict[str, Any], **visit: Any) -> dict[str, Any]:
        response = api.post(f"/api/urls/{link['_id']}/simulate", visit)
        assert response.status_code == 200, response.json()
        return response.json()["data"]

    return call
