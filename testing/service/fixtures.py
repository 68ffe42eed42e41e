"""Fixtures of tests with real services."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from testing.programs import program
from testing.service.hosts import make_folder
from testing.service.postgresql.databases import create_database, drop_database
from testing.service.running import Service


@pytest.fixture
def make_service() -> Iterator[Callable[..., Service]]:
    """Factory of installations that have never been started."""
    services: list[Service] = []

    def make(**options: str) -> Service:
        services.append(Service(make_folder(), **options))
        return services[-1]

    yield make
    for service in services:
        service.end()


@pytest.fixture(scope="module")
def make_database() -> Iterator[Callable[[], str]]:
    """Factory of migrated databases without an account on the tests' server. Returns their URL."""
    yield from databases(migrated=True)


@pytest.fixture(scope="module")
def make_empty_database() -> Iterator[Callable[[], str]]:
    """Factory of databases without tables on the tests' server. Returns their URL."""
    yield from databases(migrated=False)


def databases(*, migrated: bool) -> Iterator[Callable[[], str]]:
    server = os.environ["DATABASE_URL"]
    names: list[str] = []

    def make() -> str:
        names.append(create_database(server, migrated=migrated))
        return names[-1]

    yield make
    for url in names:
        drop_database(server, url)


@pytest.fixture(scope="session")
def caddy() -> str:
    return program("caddy")
