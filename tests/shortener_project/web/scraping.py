"""What tests read of the metrics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from common.http.client_address import INTERNAL


@pytest.fixture
def prometheus() -> Client:
    """A client like Prometheus: on the internal listener, directly from this machine."""
    return inside()


def inside() -> Client:
    client = Client(headers={"host": "127.0.0.1:8000"})
    # An environ knows more than headers.
    client.defaults[INTERNAL] = True
    return client


def scrape(prometheus: Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    response = prometheus.get("/metrics")
    assert response.status_code == 200
    families = text_string_to_metric_families(response.content.decode())
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def value(prometheus: Client, name: str, **labels: str) -> float:
    return scrape(prometheus).get((f"shortener_{name}", frozenset(labels.items())), 0.0)


@contextmanager
def out_of_reach() -> Iterator[None]:
    """Inside, the database's address refuses connections."""
    address = {name: connection.settings_dict[name] for name in ("HOST", "PORT")}
    connection.close()
    connection.settings_dict |= {"HOST": "127.0.0.1", "PORT": "1"}
    try:
        yield
    finally:
        connection.settings_dict |= address
