from __future__ import annotations

from collections.abc import Iterator

import pytest

from testing.service.running import Service


@pytest.fixture(scope="module", autouse=True)
def new_processes() -> Iterator[None]:
    """These tests are about the start itself, so they start the service as operators do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Service, "may_fork", False)
        yield
