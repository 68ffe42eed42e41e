"""Links that the host has followed, and what is loaded of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from redirects.warm_start.shared import SharedEntries


@pytest.fixture(autouse=True)
def closed_connection(transactional_db: None) -> Iterator[None]:
    """Later tests must not run with the statement timeout of the loader."""
    yield
    connection.close()


@pytest.fixture
def shared() -> Iterator[SharedEntries]:
    shared = SharedEntries()
    yield shared
    shared.close()
